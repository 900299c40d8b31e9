# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens on a scenario? Episodes under a controller or a policy, and what they leave in a folder."""
