# SPDX-License-Identifier: GPL-2.0-or-later
# Types of ns3-ai's wire with segments as Boost lays them out from 1.87 on: those of ns3_env._ns3ai.

from ns3_env._ns3ai import GYM_BUFFER_BYTES as GYM_BUFFER_BYTES
from ns3_env._ns3ai import SegmentEnd as SegmentEnd
from ns3_env._ns3ai import SegmentError as SegmentError
from ns3_env._ns3ai import TooLarge as TooLarge
