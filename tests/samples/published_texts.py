# SPDX-License-Identifier: GPL-2.0-or-later
"""Files in formats of other projects, as texts; tests/data/formats/README.md has their origin."""

from tests.paths import DATA


def file_text(name: str) -> str:
    """A file of tests/data/formats."""
    return (DATA / "formats" / name).read_text(encoding="utf-8")


TOPOLOGY = file_text("topology.txt")
FLOWS = file_text("flow.txt")
MATRIX = file_text("matrix.cm")
TWO_TIERS = file_text("two_tiers.topo")
THREE_TIERS = file_text("three_tiers.topo")
STAR_OF_ASTRA_SIM = file_text("star_of_astra_sim.txt")
RING_OF_ASTRA_SIM = file_text("ring_of_astra_sim.txt")
#: Eight GPUs of 18 links to NVSwitches, each with a card behind the same PCIe switch, as NCCL writes them.
_BEHIND_A_PCIE_SWITCH = """<pci busid="0000:{0}0:00.0" class="0x060400" link_speed="32.0 GT/s PCIe">
<pci busid="0000:{0}1:00.0" class="0x030200"><gpu dev="{0}" sm="90" rank="{0}" gdr="1">
<nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/></gpu></pci>
<pci busid="0000:{0}2:00.0" class="0x020000"><nic>
<net name="mlx5_{0}" dev="{0}" speed="400000" port="1" gdr="1"/></nic></pci></pci>
"""
_HALVES = ["".join(map(_BEHIND_A_PCIE_SWITCH.format, gpus)) for gpus in (range(4), range(4, 8))]
NCCL_NODE = f"""<system version="1"><cpu host_hash="0x7" numaid="0">
{_HALVES[0]}</cpu><cpu host_hash="0x7" numaid="1">
{_HALVES[1]}</cpu></system>
"""
