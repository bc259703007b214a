// Returns a name from outside that becomes a part of a command and of file names. A name that the shell could read as
// something else is an error. SPDX-License-Identifier: MIT
def check_name(name) {
    if (!(name.toString() ==~ /[A-Za-z0-9][A-Za-z0-9._+-]*/)) {
        error "invalid name '${name}'; use letters, digits and . _ + - (the first a letter or digit)"
    }
    return name
}

// Returns the region, which has no character with a meaning to the shell.
def check_region(region) {
    if (!(region ==~ /[A-Za-z0-9._+:-]+/)) {
        error "invalid region '${region}': use letters, digits and . _ + - :"
    }
    return region
}
