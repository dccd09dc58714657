# shellcheck shell=sh
# What the scripts here share. They source this file; it does nothing when run.
#
# Everything is kept below $tools. A result is made inside $work, a temporary folder on
# the same file system, and renamed into place when it is complete, so what has its final
# name is whole; flock keeps two runs from making the same result at once.

me=${0##*/}

die() {
    echo "$me: $*" >&2
    exit 1
}

tools=${UPCHECK_TOOLS:-$here/../../target/tools}
mkdir -p -- "$tools" || die "cannot create $tools"
tools=$(cd -- "$tools" && pwd -P)

# Waits for the lock of a result, then makes $work. Call it once, before making the result.
begin() { # NAME
    command -v flock >/dev/null || die "flock is missing (Debian package util-linux)"
    mkdir -p "$tools/lock"
    exec 9>"$tools/lock/$1"
    flock 9
    work=$(mktemp -d "$tools/.work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # dash runs the EXIT trap only for an exit of its own, not for a signal.
    trap 'exit 1' HUP INT TERM
}

# The rename that ends a run.
publish() { # MADE FINAL
    mkdir -p "${2%/*}"
    mv -T "$1" "$2"
}

# Runs a command, whose output is of interest only when it fails.
quietly() {
    "$@" >"$work/log" 2>&1 </dev/null || {
        cat "$work/log" >&2
        die "failed: $*"
    }
}

# Installs Debian packages, which only root can do.
install() { # WHAT-IS-MISSING PACKAGE...
    missing=$1
    shift
    if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
        die "$missing is missing; install (Debian packages): $*"
    fi
    # Two runs may want to install at once: apt waits for its own lock.
    quietly env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

# Makes $apt, with which apt-get reads the lists of a Debian release that is not this machine's:
#     apt-get -q -c "$apt/apt.conf" download ...
# KIND is deb-src or deb. RELEASE may be empty: the machine's own release. Holds a lock until fd 8 is closed.
#
# apt gets a configuration of its own, with lists, caches and package status apart from the
# system's: machines rarely have deb-src lines, and the system's lists are not ours to change.
# The mirror is the one the machine already uses.
debian_lists() { # KIND RELEASE
    command -v apt-get >/dev/null || die "apt-get is missing: this needs a Debian machine"
    command -v xz >/dev/null || install xz xz-utils

    # apt itself reads its sources, of either syntax and even before any update.
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    # shellcheck disable=SC2016 # the $(...) in the format are for apt
    own=$(apt-get indextargets --no-release-info \
        --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v own="^($codename|oldstable|stable|testing|unstable|sid)\$" \
            '$1 ~ own && $2 == "main" && !seen++ { print $1, $3 }')
    [ -n "$own" ] || die "no Debian mirror with component main in this machine's apt sources"
    release=${2:-${own% *}}

    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    if [ -e "$keyring" ]; then signed="[signed-by=$keyring] "; else signed=; fi

    # The lists of sources and those of packages are not for the same tools.
    case $1 in
        deb-src) apt=$tools/apt/$release ;;
        *) apt=$tools/apt/$release.$1 ;;
    esac
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    exec 8>"$apt/lock"
    flock 8

    # The hooks cleared here belong to the system's caches (PackageKit, docker-clean).
    cat >"$apt/apt.conf" <<END
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Default-Release "";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Dir::Cache "$apt/cache";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$apt/lists";
Dir::State::Status "/dev/null";
END

    # A day-old list is good enough: what it names stays on the mirror that long.
    echo "$1 $signed${own#* } $release main" >"$work/sources.list"
    if ! cmp -s "$work/sources.list" "$apt/sources.list" ||
        [ -z "$(find "$apt/updated" -mmin -1440 2>/dev/null)" ]; then
        rm -f "$apt/updated"
        cp "$work/sources.list" "$apt/sources.list"
        quietly apt-get -q -c "$apt/apt.conf" update
        touch "$apt/updated"
    fi
}

# Unpacks the upstream tarball of a Debian source package, which apt downloads and whose
# hash it checks, and sets $unpacked. RELEASE may be empty: the machine's own release.
#
# Only the tarball: Debian's changes are of no use here, and there are mirrors that have
# the tarball of a package but answer 404 for the files that hold the changes.
debian_source() { # RELEASE PACKAGE
    debian_lists deb-src "$1"
    mkdir "$work/fetched"
    cd "$work/fetched" || exit 1
    quietly apt-get -q -c "$apt/apt.conf" source --only-source --tar-only --download-only "$2"
    cd "$here" || exit 1
    exec 8>&-
    rm -f "$work"/fetched/*.asc

    mkdir "$work/unpacked"
    quietly tar -xf "$work"/fetched/*.tar.* -C "$work/unpacked" --no-same-owner
    # Most tarballs hold one folder, some hold what would be in it.
    unpacked=$(find "$work/unpacked" -mindepth 1 -maxdepth 1)
    [ -d "$unpacked" ] || unpacked=$work/unpacked
}

# Unpacks a Debian package without installing it, and sets $unpacked. VERSION is how its version begins; empty: any.
# RELEASE may be empty. Fails if there is none.
debian_package() { # RELEASE PACKAGE VERSION
    debian_lists deb "$1"
    exact=$(apt-cache -q -c "$apt/apt.conf" madison "$2" |
        awk -F'|' -v begin="$3" '{ gsub(/ /, "", $2) } index($2, begin) == 1 { print $2; exit }')
    if [ -z "$exact" ]; then
        exec 8>&-
        return 1
    fi
    rm -rf "$work/package"
    mkdir "$work/package"
    cd "$work/package" || exit 1
    quietly apt-get -q -c "$apt/apt.conf" download "$2=$exact"
    cd "$here" || exit 1
    exec 8>&-
    unpacked=$work/package/unpacked
    quietly dpkg-deb --extract "$work"/package/*.deb "$unpacked"
}
