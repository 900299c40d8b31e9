// SPDX-License-Identifier: GPL-2.0-or-later
// Everything of the RDMA module that a script may use.
#ifndef RDMA_MODULE_H
#define RDMA_MODULE_H

#include "rdma-application.h"
#include "rdma-channel.h"
#include "rdma-fat-tree-helper.h"
#include "rdma-helper.h"
#include "rdma-net-device.h"
#include "rdma-network.h"

#endif // RDMA_MODULE_H
