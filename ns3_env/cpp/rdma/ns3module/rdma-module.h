// SPDX-License-Identifier: GPL-2.0-or-later
// Everything of the RDMA module that a script may use.
#pragma once

#include "rdma-application.h"
#include "rdma-channel.h"
#include "rdma-fat-tree-helper.h"
#include "rdma-helper.h"
#include "rdma-net-device.h"
#include "rdma-network.h"
