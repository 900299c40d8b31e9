// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of MPCC's QP against eqs. 4.5 to 4.17 of Zheng 2024, written out from the print.
#include "ns3_env/cpp/rdma/mpcc/mpcc-qp.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <qpOASES.hpp>
#include <random>

namespace ns3::env::rdma
{

namespace
{

SUITE("rdma-mpcc-qp");

const MpccCost THESIS{.weightQueue = 1, .weightWindow = 10};

/// A square matrix, row by row.
struct Matrix
{
    explicit Matrix(int side)
        : size(side),
          values(static_cast<size_t>(side) * side)
    {
    }

    double& operator()(int row, int column)
    {
        return values[static_cast<size_t>(row) * size + column];
    }

    int size;
    std::vector<double> values;
};

/// B-bar of eq. 4.9 with A = 1.
Matrix
BBar(int horizon, double b)
{
    Matrix m(horizon);
    for (int i = 0; i < horizon; ++i)
    {
        for (int j = 0; j <= i; ++j)
        {
            m(i, j) = b;
        }
    }
    return m;
}

/// Models as in networks: up to 300 flows, queues from empty to far beyond the bound.
MpccModel
RandomModel(std::mt19937_64& random)
{
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    MpccModel model;
    const double flows = std::floor(std::pow(300.0, unit(random)));
    model.fairShare = std::min(1.0, (0.2 + 4 * unit(random)) / flows);
    model.lower = -model.fairShare;
    model.upper = 1.0 - model.fairShare;
    model.queueBound = flows - 1.0;
    model.b = std::pow(10.0, -2.0 + 3.0 * unit(random));
    const double place = unit(random); // of the queue, between empty and three times its bound
    model.q = place < 0.2 ? 0.0 : place < 0.6 ? unit(random) : 3.0 * flows * unit(random);
    return model;
}

/// The first input of the printed problem, in units of BDP_max; unscaled H and g.
double
SolvePrinted(int horizon, const MpccCost& cost, const MpccModel& model)
{
    const auto weight = [&](int step)
    { return cost.weightQueue * (step + 1 == horizon ? cost.terminalWeight : 1.0); };
    Matrix bBar = BBar(horizon, model.b);
    Matrix hessian(horizon);
    std::vector<double> gradient(horizon);
    std::vector<double> lower(horizon, model.lower); // eq. 4.15
    std::vector<double> upper(horizon, model.upper);
    std::vector<double> lowerRows(horizon, -model.q); // eq. 4.17
    std::vector<double> upperRows(horizon);
    for (int i = 0; i < horizon; ++i)
    {
        for (int j = 0; j < horizon; ++j)
        {
            for (int k = 0; k < horizon; ++k)
            {
                hessian(i, j) += 2 * bBar(k, i) * weight(k) * bBar(k, j);
            }
            gradient[i] += 2 * bBar(j, i) * weight(j) * (model.q - model.reference);
        }
        hessian(i, i) += 2 * cost.weightWindow + 2 * cost.weightChange; // (u_i - u_{i-1})^2
        if (i > 0)
        {
            hessian(i - 1, i - 1) += 2 * cost.weightChange;
            hessian(i, i - 1) -= 2 * cost.weightChange;
            hessian(i - 1, i) -= 2 * cost.weightChange;
        }
        upperRows[i] = model.SoftBound(i + 1) - model.q;
    }
    gradient[0] -= 2 * cost.weightChange * model.previous;
    qpOASES::QProblem problem(horizon, horizon); // A_qp = B-bar (eq. 4.16)
    qpOASES::Options options;
    options.setToReliable();
    options.printLevel = qpOASES::PL_NONE;
    problem.setOptions(options);
    qpOASES::int_t changes = 1000;
    const auto code = problem.init(hessian.values.data(),
                                   gradient.data(),
                                   bBar.values.data(),
                                   lower.data(),
                                   upper.data(),
                                   lowerRows.data(),
                                   upperRows.data(),
                                   changes);
    EXPECT_EQ(code, qpOASES::SUCCESSFUL_RETURN, "the printed problem is feasible");
    std::vector<double> solution(horizon);
    problem.getPrimalSolution(solution.data());
    return solution[0];
}

/// Eqs. 4.7, 4.8 and 4.15 to 4.17: every constraint as printed, the upper state bound softened.
TEST("bounds for rows, and the proven regulator, solve the QP of eqs. 4.7 to 4.17")
{
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    int proofs[3] = {0, 0, 0};
    int softened = 0;
    // The thesis's; eq. 4.4 with a queue that is wanted and a terminal weight; and a cost of changes.
    for (const MpccCost& cost : {THESIS,
                                 MpccCost{.queueReference = 0.3, .terminalWeight = 5.0},
                                 MpccCost{.queueReference = 0.1, .weightChange = 50.0}})
    {
        const bool thesis = cost.queueReference == 0;
        for (int horizon : {1, 2, 3, 5, 10, 20})
        {
            const env::test::Case about("P = " + std::to_string(horizon));
            MpccQp qp(horizon, cost);
            Regulator regulator(horizon, cost);
            MpccQpCounters counters;
            for (int i = 0; i < (thesis ? 500 : 200); ++i)
            {
                MpccModel model = RandomModel(random);
                model.reference = std::min(cost.queueReference, model.queueBound);
                model.previous = thesis ? model.previous : model.lower + unit(random);
                const double printed = SolvePrinted(horizon, cost, model);
                const double hot = qp.Solve(model, counters).value_or(NAN);
                const double scale = model.fairShare;
                ASSERT_NEAR(hot, printed, thesis ? 1e-7 * scale : 1e-6 * scale + 1e-8, "bounds");
                const LqrProof proof =
                    cost.weightChange == 0.0 ? regulator.Solve(model) : LqrProof::None;
                ASSERT(proof == LqrProof::None ||
                           std::abs(regulator.Moves()[0] - hot) <= (thesis ? 1e-9 : 1e-6) * scale,
                       "proof");
                proofs[static_cast<int>(proof)] += thesis ? 1 : 0;
                softened += thesis && model.SoftBound(1) > model.queueBound ? 1 : 0;
            }
            EXPECT_EQ(counters.failures, 0, "qpOASES finished");
        }
    }
    EXPECT_EQ(proofs[static_cast<int>(LqrProof::None)], 0, "always proven");
    EXPECT_GT(proofs[static_cast<int>(LqrProof::Unconstrained)], 500, "tried");
    EXPECT_GT(proofs[static_cast<int>(LqrProof::Saturated)], 500, "tried");
    EXPECT_GT(softened, 300, "queues beyond reach of the bound");
}

/// A proof is only useful if it can fail. The control itself never has such models.
TEST("what is not optimal is not proven")
{
    MpccModel model{.q = 1.0,
                    .b = 1.0,
                    .fairShare = 0.5,
                    .lower = -0.5,
                    .upper = -0.4, // inputs must drain more than there is
                    .queueBound = 3.0};
    Regulator regulator(3, THESIS);
    EXPECT(regulator.Solve(model) == LqrProof::None, "the queue would be below nothing (eq. 4.3)");
    model.q = -1.0;
    model.upper = 0.5;
    EXPECT(regulator.Solve(model) == LqrProof::None, "it is below nothing already");
}

/// Every return code: an unsolvable problem is reported, counted, and forgotten.
TEST("a failed solve is counted and the next one starts afresh; an equal one is free")
{
    MpccQp qp(5, THESIS);
    MpccQpCounters counters;
    const MpccModel model{.q = 2.0,
                          .b = 0.5,
                          .fairShare = 0.25,
                          .lower = -0.25,
                          .upper = 0.75,
                          .queueBound = 3.0};
    const double move = qp.Solve(model, counters).value_or(NAN);
    const uint64_t changes = counters.workingSetChanges;
    EXPECT_GT(changes, 0, "bounds are active at the optimum");
    EXPECT_EQ(qp.Solve(model, counters).value_or(NAN), move, "hot");
    EXPECT_EQ(counters.workingSetChanges, changes, "nothing to change");

    MpccModel broken = model;
    broken.q = NAN;
    EXPECT(!qp.Solve(broken, counters), "reported");
    EXPECT_EQ(counters.failures, 1, "counted");
    EXPECT_NEAR(qp.Solve(model, counters).value_or(NAN), move, 1e-12, "afresh");
    EXPECT_EQ(counters.failures, 1, "not again");

    MpccModel drained = model; // inputs must drain more than there is
    drained.upper = -0.2;
    drained.q = 0.3;
    EXPECT(!qp.Solve(drained, counters), "a row of eq. 4.17 is broken");
    EXPECT_EQ(counters.failures, 2, "and that is counted");
    EXPECT_EQ(counters.solves, 5, "every solve");
}

} // namespace

} // namespace ns3::env::rdma
