/*
 * $name$: congestion control by a trained policy, in integers alone (C99, no allocation, no library).
 *
 * Written by ns3-env's export from a policy's file; do not edit.
 * $key$: weights $sha256$
 * $training$
 *
 * Network: $kind$.
 * Tables: $table_bytes$ B of constants: $weight_bytes$ B of weights, $function_bytes$ B for log2, 2^x and tanh.
 * Observes: $fields$.
 * Action a in [-1, 1]: $meaning$.
 * Decides: $clock$.
 * Telemetry: $telemetry$.
 *
 * Use: one $name$_state for each flow, which the caller owns.
 * 1. Before its first packet $name$_telemetry_every_ns() says which of its packets carry telemetry, and
 *    $name$_start() with what window and rate it begins.
 * 2. Whenever a decision is due, fill a $name$_observation, call $name$_decide() and obey the action.
 *    Where only some packets carry telemetry, wait for the ACK of one; other ACKs are counted.
$use$ *
 * Units: times in ns, sizes in B, rates in kbit/s (1000 bit/s). Qn is a number in units of 2^-n.
 * Most: a BDP of 1 GiB, rates of 4 Tbit/s, times of 4 s. No input makes it divide by zero.
 * Two threads may decide for two flows at once. No constant is written, no other memory is touched.
 *
 * With NS3_ENV_POLICY_DECLARATIONS defined the file is its own header.
 */
#ifndef $NAME$_DECLARED
#define $NAME$_DECLARED

#include <stdint.h>

enum
{
    $name$_telemetry_bytes = $telemetry_bytes$, /* of a data packet that carries it and its ACK, on the wire */
    $name$_reads_hops = $hops$, /* 1: switches tell of their queues */
    $name$_rtt_fraction_q16 = $fraction$, /* of the last RTT until the next decision; 0: every ACK */
    $name$_table_bytes = $table_bytes$
};

/* What is known of a flow's path before its first packet. */
struct $name$_path
{
    uint32_t host_rate_kbps; /* of the sender's link */
    uint32_t base_rtt_ns; /* of a full packet, without queues */
    uint32_t packet_bytes; /* of a full packet on the wire, with telemetry if any packet carries it */
$receiver$};

/* Of one flow. A caller reads bdp_bytes, and writes none of it. */
struct $name$_state
{
    struct $name$_path path;
    uint32_t bdp_bytes; /* base RTT x host rate, at least a packet */
    uint32_t decided; /* 0 before the first decision at an ACK */
    uint64_t window_q8; /* B */
    uint64_t rate_q8; /* kbit/s */
    int32_t last_action_q16;
$state$};

/* What is observed when a decision is due. */
struct $name$_observation
{
$observation$};

/* What the flow does until the next decision. */
struct $name$_action
{
    uint32_t window_bytes; /* most bytes in flight; UINT32_MAX: no window */
    uint32_t rate_kbps; /* of pacing */
    int32_t action_q16; /* what the network said, in [-65536, 65536] */
$fallback$};

/*
 * Which packets of a flow of so many bytes of payload carry telemetry: one that leaves so many ns after the last
 * that did, the first one always. 0: all; UINT32_MAX: none. Reads base RTT and rate of the path.
 */
uint32_t $name$_telemetry_every_ns(const struct $name$_path *path, uint64_t size_bytes);

/* A flow starts: what it does until the next decision. */
void $name$_start(struct $name$_state *s, const struct $name$_path *path, uint64_t size_bytes,
    struct $name$_action *action);

/* A decision is due. */
void $name$_decide(struct $name$_state *s, const struct $name$_observation *o,
    struct $name$_action *action);

#endif

#ifndef NS3_ENV_POLICY_DECLARATIONS

$tables$

$functions$
/* The base RTT at the rate of the link, B. */
static uint64_t bdp_of(const struct $name$_path *path)
{
    const uint64_t bdp = (uint64_t)path->base_rtt_ns * path->host_rate_kbps / 8000000U;
    return bdp > 1U << 30 ? 1U << 30 : bdp;
}

/* The rate (1/256 kbit/s) that a window (1/256 B) sends in a base RTT, at most the link's. */
static uint64_t rate_of(const struct $name$_state *s, uint64_t window)
{
    const uint64_t rate = window * 8000000U / s->path.base_rtt_ns;
    const uint64_t most = (uint64_t)s->path.host_rate_kbps << 8;
    return rate < most ? rate : most;
}

/* The network's inputs, Q16. */
static void observe(struct $name$_state *s, const struct $name$_observation *o, int32_t *x)
{
$observe$
}

/* The network's output, Q16; x: its current inputs. */
static int32_t network(struct $name$_state *s, const int32_t *x)
{
$network$
}

/* What the output means. */
static void apply(struct $name$_state *s, int32_t a, struct $name$_action *action)
{
$apply$
    action->rate_kbps = (uint32_t)((s->rate_q8 + 128U) >> 8);
    action->action_q16 = a;
}

$safety$/* Asks the network, and does what it says. */
static void answer(struct $name$_state *s, const struct $name$_observation *o,
    struct $name$_action *action)
{
    $x$
    int32_t a;
    observe(s, o, x);
$check$$ring$    a = network(s, x);
    a = a < -65536 ? -65536 : a > 65536 ? 65536 : a;
    apply(s, a, action);
$bound$    s->last_action_q16 = a;
}

uint32_t $name$_telemetry_every_ns(const struct $name$_path *path, uint64_t size_bytes)
{
$telemetry_every$
}

void $name$_start(struct $name$_state *s, const struct $name$_path *path, uint64_t size_bytes,
    struct $name$_action *action)
{
$declared$    uint64_t bdp = bdp_of(path);
    bdp = bdp < path->packet_bytes ? path->packet_bytes : bdp;
    bdp = bdp < 1 ? 1 : bdp > 1U << 30 ? 1U << 30 : bdp;
    s->path = *path;
    s->path.base_rtt_ns += s->path.base_rtt_ns == 0 ? 1 : 0;
    s->bdp_bytes = (uint32_t)bdp;
    s->decided = 0;
    s->window_q8 = bdp << 8;
    s->rate_q8 = (uint64_t)s->path.host_rate_kbps << 8;
    s->last_action_q16 = 0;
$begin$$first$
}

void $name$_decide(struct $name$_state *s, const struct $name$_observation *o,
    struct $name$_action *action)
{
$decide$
    s->decided = 1;
}

#endif
