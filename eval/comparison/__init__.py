# SPDX-License-Identifier: GPL-2.0-or-later
"""What has a run brought? Its policy against others on an unseen scenario."""
