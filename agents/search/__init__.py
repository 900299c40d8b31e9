# SPDX-License-Identifier: GPL-2.0-or-later
"""What is searched for, and how? A controller's attributes, tuned on the curriculum's episodes."""
