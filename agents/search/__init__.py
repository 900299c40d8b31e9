# SPDX-License-Identifier: GPL-2.0-or-later
"""What is searched for, and how? Attributes, or a network's weights, on the curriculum's episodes."""
