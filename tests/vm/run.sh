#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests in a virtual machine whose kernel has cgroup v2 with every controller, as root and as an ordinary user with a
# delegated group, whatever the host has. Needs qemu-system-x86_64, busybox (static), cpio and a kernel image; says in one
# word when one is missing. The kernel comes from a Debian package that is unpacked, not installed.
#
#   run.sh BUILD_DIR
set -euo pipefail
build=$(readlink -f "${1:?usage: run.sh BUILD_DIR}")
cache=$build/vm
tests=(unit_sys_cgroup unit_sys_child unit_sys_fdpass unit_sys_proctree unit_exec_box)

skip() {
	echo "SKIPPED: no virtual machine: $*"
	exit 77
}
for tool in qemu-system-x86_64 busybox cpio; do
	command -v "$tool" >/dev/null || skip "no $tool (apt-get install qemu-system-x86 busybox-static cpio)"
done

mkdir -p "$cache"
kernel() { compgen -G "$cache/kernel/boot/vmlinuz-*" | head -1; }
if [ -z "$(kernel)" ]; then
	package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }')
	[ -n "$package" ] || skip "no kernel package known (apt-get update)"
	(cd "$cache" && apt-get -q download "$package" >/dev/null 2>&1) || skip "the kernel package cannot be had"
	dpkg -x "$cache"/linux-image-*.deb "$cache/kernel"
fi

# The root file system: the tests, the spawner, what they call, and the libraries of all that.
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root"/{bin,usr/bin,dev,proc,sys,tmp,etc,build/tests,build/libexec/assay}
with_libraries() {
	local file
	for file in $(ldd "$1" 2>/dev/null | grep -oE '/[^ ]+' || true); do
		install -D "$file" "$root$file"
	done
}
for test in "${tests[@]}"; do
	install "$build/tests/$test" "$root/build/tests/"
	with_libraries "$build/tests/$test"
done
install "$build/libexec/assay/assay-spawner" "$root/build/libexec/assay/"
for program in bash env ls cat head tail yes sleep setsid true pgrep; do
	install -D "$(type -P "$program")" "$root/usr/bin/$program"
	with_libraries "$root/usr/bin/$program"
done
install "$(type -P busybox)" "$root/bin/busybox"
ln -s ../usr/bin/bash "$root/bin/bash"
printf 'root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/:/bin/sh\n' >"$root/etc/passwd"
printf '%s\n' "${tests[@]}" >"$root/tests"
cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin HOME=/
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
ip link set lo up 2>/dev/null
echo "cgroup v2 controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
for test in $(cat /tests); do
	echo "as root: $test"
	/build/tests/$test || echo "FAILED in the virtual machine: $test as root"
done
# As systemd delegates a scope: a group of the user's own, with this shell in it.
echo '+memory +pids +cpu' >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/user
chown -R 1000:1000 /sys/fs/cgroup/user
for test in $(cat /tests); do
	echo "as an ordinary user: $test"
	sh -c "echo \$\$ >/sys/fs/cgroup/user/cgroup.procs; exec su user -c /build/tests/$test" ||
		echo "FAILED in the virtual machine: $test as an ordinary user"
	for left in /sys/fs/cgroup/user/*/; do
		[ ! -d "$left" ] || [ "$left" = /sys/fs/cgroup/user/assay-front/ ] || echo "FAILED in the virtual machine: $left is left"
	done
	rmdir /sys/fs/cgroup/user/assay-front 2>/dev/null
	echo '-memory -pids -cpu' >/sys/fs/cgroup/user/cgroup.subtree_control
done
echo "the virtual machine has run all"
poweroff -f
END
chmod +x "$root/init"
(cd "$root" && find . -print0 | cpio --null -o --quiet -H newc) | gzip -1 >"$cache/initramfs.gz"

# Software emulation: nested hardware virtualisation cannot be relied upon, and the kernel boots in seconds anyway.
timeout 300 qemu-system-x86_64 -accel tcg -cpu max -m 1024 -smp 2 -nographic -no-reboot -nodefaults -serial stdio \
	-kernel "$(kernel)" -initrd "$cache/initramfs.gz" -append "console=ttyS0 quiet panic=-1" </dev/null |
	tr -d '\r' | tee "$cache/log"
grep -q 'the virtual machine has run all' "$cache/log"
! grep -q 'FAILED' "$cache/log"
