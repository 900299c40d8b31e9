# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a simulator from Python: its program, its process, and the messages in turns."""

from ns3_env.programs.executable import (
    EXECUTABLE_VARIABLE,
    HANG_TIMEOUT_VARIABLE,
    PLUGINS_VARIABLE,
    TCP_EXECUTABLE_VARIABLE,
    default_attributes,
    describe_controllers,
    find_executable,
    list_controllers,
)
from ns3_env.programs.plugins import load_plugins, plugin_versions
from ns3_env.simulator.lock_step import HealthCheck, JointDecisions, LockStep, share, wait_any
from ns3_env.simulator.messages import DecisionBatch, EpisodeEnd, Transitions
from ns3_env.simulator.process import hang_timeout_s
from ns3_env.simulator.script import Script
from ns3_env.simulator.shared import SharedProcess
from ns3_env.simulator.simulator import Simulator

__all__ = [
    "EXECUTABLE_VARIABLE",
    "HANG_TIMEOUT_VARIABLE",
    "PLUGINS_VARIABLE",
    "TCP_EXECUTABLE_VARIABLE",
    "DecisionBatch",
    "EpisodeEnd",
    "HealthCheck",
    "JointDecisions",
    "LockStep",
    "Script",
    "SharedProcess",
    "Simulator",
    "Transitions",
    "default_attributes",
    "describe_controllers",
    "find_executable",
    "hang_timeout_s",
    "list_controllers",
    "load_plugins",
    "plugin_versions",
    "share",
    "wait_any",
]
