#!/bin/sh
# Installs Chromium for the tests that open a browser, where there is none and apt and root are there.
# SPDX-License-Identifier: GPL-2.0-or-later
for name in chromium chromium-browser google-chrome; do
	command -v "$name" >/dev/null && exit 0
done
skipped="the tests in a browser are skipped"
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "no Chromium, and no apt-get as root to install it: $skipped"
	exit 0
fi
echo "Chromium from apt: 200 MB to fetch, a minute or two (all of it is in build/browser.log)"
mkdir -p build
export DEBIAN_FRONTEND=noninteractive
# /dev/null: a package that asks gets no answer; timeout: a mirror that hangs does not hold the tests
install() { timeout 300 apt-get install -y --no-install-recommends chromium </dev/null; }
{ install || { timeout 120 apt-get update </dev/null && install; }; } >build/browser.log 2>&1 ||
	echo "  failed: $skipped"
exit 0
