# completion.awk - generates a shell's completion of options from a program's option list.
#
#   awk -v shell=bash|zsh|fish -v program=NAME -f completion.awk LIST
#
# LIST has tab-separated lines as printed by --help-machine (common/cli/opt.h), after a first column with the
# subcommand of the option, or empty. Lines of three columns are the subcommands of a program: the empty column, name
# and summary. completion.sh makes LIST.
# SPDX-License-Identifier: MIT

function quoted(text) # as one word of the shell
{
    if (shell == "fish") {
        gsub(/\\/, "\\\\", text)
        gsub(/'/, "\\'", text)
    } else {
        gsub(/'/, "'\\''", text)
    }
    return "'" text "'"
}

# The first clause of the help.
function brief(text)
{
    sub(/[;:.] .*/, "", text)
    return text
}

function is_flag(type)
{
    return type == "flag" || type == "count"
}

# ---- bash ----

# The names of an option as a pattern of case, to complete its value.
function bash_value(i)
{
    return (letter[i] == "-" ? "" : "-" letter[i] "|") "--" name[i]
}

function bash_options(sub_name,    i, words, values)
{
    words = ""
    for (i = 1; i <= n; i++)
        if (owner[i] == sub_name) {
            words = words " --" name[i] (letter[i] == "-" ? "" : " -" letter[i])
            if (choices[i] != "-") {
                values = choices[i]
                gsub(/\|/, " ", values)
                printf "    %s)\n        COMPREPLY=($(compgen -W %s -- \"$cur\"))\n        return ;;\n", bash_value(i), quoted(values)
            } else if (!is_flag(type[i]) && metavar[i] !~ /^\[/) {
                printf "    %s) return ;;\n", bash_value(i)
            }
        }
    printf "    esac\n    case $cur in\n    -*) COMPREPLY=($(compgen -W %s -- \"$cur\")) ;;\n    esac\n", quoted(substr(words, 2))
}

function bash(    i, k, words)
{
    # Without a match, readline completes file names.
    printf "# Completion of %s for bash: made by completion.awk.\n_%s() {\n", program, program
    print "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n    COMPREPLY=()"
    print "    # --name=value are three words here."
    print "    if [ \"$cur\" = = ]; then\n        cur=\n    elif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 1 ]; then"
    print "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n    fi"
    if (n_subs) {
        words = ""
        for (k = 1; k <= n_subs; k++)
            words = words " " sub_name[k]
        print "    if [ \"$COMP_CWORD\" -eq 1 ]; then"
        printf "        COMPREPLY=($(compgen -W %s -- \"$cur\"))\n        return\n    fi\n", quoted(substr(words, 2) " --help --version")
        print "    case ${COMP_WORDS[1]} in"
        for (k = 1; k <= n_subs; k++) {
            printf "    %s)\n    case $prev in\n", sub_name[k]
            bash_options(sub_name[k])
            print "    ;;"
        }
        print "    esac"
    } else {
        print "    case $prev in"
        bash_options("")
    }
    printf "}\ncomplete -o default -F _%s %s\n", program, program
}

# ---- zsh ----

function zsh_options(sub_name, indent,    i, help, value, names, values)
{
    printf "%s_arguments -s -S", indent
    for (i = 1; i <= n; i++) {
        if (owner[i] != sub_name)
            continue
        help = brief(help_of[i])
        gsub(/\\/, "\\\\", help)
        gsub(/[][]/, "\\\\&", help)
        value = ""
        if (!is_flag(type[i])) {
            values = choices[i]
            gsub(/\|/, " ", values)
            value = ":" (metavar[i] ~ /^\[/ ? ":" : "") "value:" (choices[i] != "-" ? "(" values ")" : path[i] != "-" ? "_files" : " ")
            if (metavar[i] ~ /^\[/)
                value = "::value: "
        }
        names = is_flag(type[i]) ? "--" name[i] : metavar[i] ~ /^\[/ ? "--" name[i] "=-" : "--" name[i] "="
        if (letter[i] == "-")
            printf " \\\n%s    %s", indent, quoted((type[i] ~ /list|count/ ? "*" : "") names "[" help "]" value)
        else
            printf " \\\n%s    %s{%s,%s}%s", indent, type[i] ~ /list|count/ ? "'*'" : quoted("(-" letter[i] " --" name[i] ")"), \
                "-" letter[i] (is_flag(type[i]) ? "" : "+"), names, quoted("[" help "]" value)
    }
    printf " \\\n%s    '*:file:_files'\n", indent
}

function zsh(    k)
{
    printf "#compdef %s\n# Completion of %s for zsh: made by completion.awk.\n", program, program
    if (!n_subs) {
        zsh_options("", "")
        return
    }
    print "local -a subcommands\nsubcommands=("
    for (k = 1; k <= n_subs; k++)
        print "    " quoted(sub_name[k] ":" summary[k])
    print ")\nif (( CURRENT == 2 )); then\n    _describe subcommand subcommands\n    return\nfi"
    print "local subcommand=$words[2]\nshift words\n(( CURRENT-- ))\ncase $subcommand in"
    for (k = 1; k <= n_subs; k++) {
        printf "%s)\n", sub_name[k]
        zsh_options(sub_name[k], "    ")
        print "    ;;"
    }
    print "esac"
}

# ---- fish ----

function fish(    i, k, value, values, condition)
{
    printf "# Completion of %s for fish: made by completion.awk.\n", program
    for (k = 1; k <= n_subs; k++)
        printf "complete -c %s -n __fish_use_subcommand -x -a %s -d %s\n", program, sub_name[k], quoted(summary[k])
    for (i = 1; i <= n; i++) {
        values = choices[i]
        gsub(/\|/, " ", values)
        value = is_flag(type[i]) || metavar[i] ~ /^\[/ ? "" : choices[i] != "-" ? " -x -a " quoted(values) : path[i] != "-" ? " -r -F" : " -x"
        condition = owner[i] == "" ? "" : " -n '__fish_seen_subcommand_from " owner[i] "'"
        printf "complete -c %s%s%s -l %s%s -d %s\n", program, condition, letter[i] == "-" ? "" : " -s " letter[i], name[i], value, \
            quoted(brief(help_of[i]))
    }
}

BEGIN { FS = "\t" }

NF == 3 {
    sub_name[++n_subs] = $2
    summary[n_subs] = $3
    next
}

{
    n++
    owner[n] = $1
    name[n] = $2
    letter[n] = $3
    type[n] = $4
    metavar[n] = $5
    choices[n] = $7
    path[n] = $8
    help_of[n] = $9
}

END {
    if (shell == "bash")
        bash()
    else if (shell == "zsh")
        zsh()
    else
        fish()
}
