# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts of jobs in other projects' formats."""

from __future__ import annotations

#: In the format of LogGOPSim's and ATLAHS's examples: computation, a message there, and another back.
PING_PONG = """num_ranks 2

rank 0 {
l1: calc 1500 cpu 0
l2: send 3000b to 1 tag 7 cpu 0 nic 0
l2 requires l1
l3: recv 3000b from 1 tag 8 cpu 1
l4: calc 250 /* after the answer */
l4 requires l3
}

rank 1 {
l1: recv 3000b from 0 tag 7
l2: calc 700
l2 requires l1
l3: send 3000b to 0 tag 8  // the answer
l3 requires l2
}
"""
#: Four ranks tell each other of a byte: to the next, to the one after the next.
DISSEMINATION = "num_ranks 4\n" + "".join(
    f"rank {r} {{\nl1: send 1b to {(r + 1) % 4} tag 0\nl2: recv 1b from {(r - 1) % 4} tag 0\n"
    f"l3: send 1b to {(r + 2) % 4} tag 0\nl3 requires l2\nl4: recv 1b from {(r + 2) % 4} tag 0\n}}\n"
    for r in range(4)
)
#: inputs/workload/microAllReduce.txt of ASTRA-sim 1 (MIT), as it is.
MICRO_ASTRA = """HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 8
1
conv1 -1 5 ALLREDUCE 1048576 5 NONE 0 5  NONE 0 5
"""
#: inputs/workload/ASTRA-sim-1.0/DLRM_HybridParallel.txt of ASTRA-sim (MIT), as it is but for its end of line.
DLRM = """HYBRID_DLRM\t4\t\t\t\t\t\t\t\t\t\t\t
8\t\t\t\t\t\t\t\t\t\t\t
Embedding\t-1\t300\tALLTOALL\t98304\t300\tALLTOALL\t98304\t300\tNONE\t0\t98
MLP_Bottom_0\t-1\t1280\tNONE\t0\t794\tNONE\t0\t896\tALLREDUCE\t13312\t13
MLP_Bottom_1\t-1\t2560\tNONE\t0\t2560\tNONE\t0\t1792\tALLREDUCE\t524288\t524
MLP_Bottom_2\t-1\t2560\tNONE\t0\t2560\tNONE\t0\t1792\tALLREDUCE\t524288\t524
MLP_Bottom_3\t-1\t800\tNONE\t0\t1280\tNONE\t0\t800\tALLREDUCE\t16384\t16
MLP_Top_0\t-1\t6400\tNONE\t0\t6400\tNONE\t0\t4480\tALLREDUCE\t1064960\t1065
MLP_Top_1\t-1\t2560\tNONE\t0\t2560\tNONE\t0\t1792\tALLREDUCE\t524288\t524
MLP_Top_2\t-1\t2560\tNONE\t0\t2560\tNONE\t0\t1792\tALLREDUCE\t524288\t524
"""
#: A mixture of experts in the format of SimAI's example/workload_ep_test.txt, with small numbers.
SIMAI = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 \
checkpoints: 0 checkpoint_initiates: 0
5
grad_gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t8000\t100
moe_grad_norm2\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER_DP_EP\t6000\t100
embedding_layer\t-1\t600\tALLREDUCE\t4400\t1\tNONE\t0\t900\tNONE\t0\t100
attention_column\t-1\t700\tALLGATHER\t2000\t350\tREDUCESCATTER\t0\t350\tNONE\t0\t100
mlp_moelayer\t-1\t1\tALLTOALL_EP\t10000\t1\tALLTOALL_EP\t10000\t1\tNONE\t0\t100
"""
#: Chakra's jsonizer (mlcommons/chakra): an object behind the other, as protocol buffers print them: 64-bit
#: numbers are texts, names in camel case, and what is 0 is left out, the first node's id too.
JSONIZER = """{
  "version": "0.0.4"
}{
  "name": "forward",
  "type": "COMP_NODE",
  "durationMicros": "7",
  "attr": [{"name": "is_cpu_op", "boolVal": false}]
}{
  "id": "1",
  "name": "gradients",
  "type": "COMM_COLL_NODE",
  "dataDeps": ["0"],
  "attr": [
    {"name": "comm_type", "int64Val": "6"},
    {"name": "comm_size", "uint64Val": "4000"},
    {"name": "involved_dim", "boolList": {"values": [true]}}
  ]
}"""
