# SPDX-License-Identifier: GPL-2.0-or-later
"""Search for attributes of a controller, or a network's weights, on the curriculum's episodes."""
