/** Programs and parts of the shell that start others, run program text, or change how the shell reads what follows. */
import { hasOption, splitArguments } from './arguments.js'
import type { Entry, ProgramFacts } from './facts.js'
import { both, named, NONE, type Use } from './file-use.js'
import { always, decisiveNames, mapfileReason, setReason, shoptReason } from './reasons.js'

interface Script {
  readonly reads?: string
  readonly texts?: string
  /** An option that brings the program, so that no operand is one. */
  readonly brought?: RegExp
}

/** An interpreter and the script it is given; what follows that is for the script. */
function interpreter({ reads = '', texts = '', brought }: Script = {}): ProgramFacts {
  const options = named({ reads, texts, operands: 'none' })
  const wanted = `${reads} ${texts}`.split(' ').filter((name) => name !== '')
  const script: Use = (args) => {
    const { options: given, operands } = splitArguments(args, wanted)
    return brought !== undefined && given.some((option) => brought.test(option)) ? NONE : { ...NONE, reads: operands.slice(0, 1) }
  }
  return { language: 'interpreter', files: both(options, script) }
}

const ELSEWHERE = 'it starts programs in a way that is not analysed'

export const STARTING: readonly Entry[] = [
  [
    'env',
    {
      starts: {
        flags: 'i0v',
        values: 'u',
        longFlags: ['--ignore-environment', '--null', '--debug'],
        longValues: ['--unset'],
        assignments: true,
      },
    },
  ],
  [
    'sudo',
    {
      starts: {
        flags: 'AbEHknPS',
        values: 'ugpCT',
        longFlags: ['--preserve-env', '--set-home', '--non-interactive', '--background', '--stdin'],
        longValues: ['--user', '--group', '--prompt'],
        assignments: true,
      },
    },
  ],
  ['doas', { starts: { flags: 'n', values: 'u' } }],
  ['nohup', { starts: {} }],
  ['nice', { starts: { values: 'n', longValues: ['--adjustment'], numeric: true } }],
  ['ionice', { starts: { flags: 't', values: 'cn', longFlags: ['--ignore'], longValues: ['--class', '--classdata'] } }],
  [
    'timeout',
    {
      starts: {
        flags: 'v',
        values: 'sk',
        longFlags: ['--preserve-status', '--foreground', '--verbose'],
        longValues: ['--signal', '--kill-after'],
        operands: 1,
      },
    },
  ],
  ['stdbuf', { starts: { values: 'ioe', longValues: ['--input', '--output', '--error'] } }],
  ['setsid', { starts: { flags: 'cfw', longFlags: ['--ctty', '--fork', '--wait'] } }],
  [
    'time',
    { starts: { flags: 'pv', values: 'f', longFlags: ['--portability', '--verbose'], longValues: ['--format'], assignments: true } },
  ],
  ['exec', { starts: { flags: 'cl', values: 'a' } }],
  ['command', { starts: { flags: 'p' } }],
  ['builtin', { starts: {} }],
  ['coproc', { starts: { assignments: true } }],
  ['busybox', { starts: {} }],
  ['toybox', { starts: {} }],
  ['chronic', { starts: {} }],
  ['caffeinate', { starts: { flags: 'dimsu', values: 't' } }],
  ['taskset', { starts: { flags: 'c', longFlags: ['--cpu-list'], operands: 1 } }],
  [
    'watch',
    {
      starts: {
        flags: 'bcdegptwx',
        values: 'n',
        longFlags: ['--differences', '--exec', '--no-title', '--color'],
        longValues: ['--interval'],
      },
    },
  ],
  [
    'xargs',
    {
      starts: {
        flags: '0rtpxo',
        values: 'aEILnPsd',
        longFlags: ['--null', '--no-run-if-empty', '--verbose', '--exit', '--open-tty', '--interactive'],
        longValues: ['--arg-file', '--delimiter', '--max-args', '--max-procs', '--max-chars', '--replace'],
      },
    },
  ],
  ['xargs', { files: named({ reads: '-a --arg-file', operands: 'none' }) }],

  ['sh bash dash ash rbash ksh mksh', { language: 'bash' }],
  ['zsh fish csh tcsh nu pwsh xonsh elvish', { language: 'other-shell' }],
  ['python pypy', interpreter({ texts: '-W -X -c -m', brought: /^-\w*[cm]/ })],
  [
    'node nodejs',
    interpreter({
      reads: '-r --require --import --loader --experimental-loader --env-file',
      texts: '-e -p --eval --print -C',
      brought: /^(?:-\w*[ep]|--eval|--print)/,
    }),
  ],
  ['php', interpreter({ reads: '-f --file -c --php-ini', texts: '-r -d -B -R -E -z', brought: /^-\w*[frRFBE]/ })],
  ['lua luajit', interpreter({ texts: '-e -l', brought: /^-\w*e/ })],
  ['tclsh Rscript R osascript guile irb ipython tsx ts-node', interpreter({ reads: '-f --file', texts: '-e', brought: /^-e/ })],
  ['deno bun', { language: 'interpreter', files: named({}) }],
  ['psql', { language: 'interpreter', files: named({ reads: '-f --file', writes: '-o --output -L --log-file', operands: 'none' }) }],
  [
    'sqlite3',
    {
      language: 'interpreter',
      files: (args) => ({
        ...NONE,
        writes: splitArguments(args, ['-init', '-cmd']).operands.slice(0, 1),
        reads: splitArguments(args, ['-init']).values,
      }),
    },
  ],
  ['mysql', { language: 'interpreter' }],

  ['. source', { explicit: always('it runs a file in the shell itself') }],
  ['enable fc bind complete compgen compopt', { explicit: always('it changes or replays what the shell runs') }],
  [
    'parallel script su chroot unshare nsenter systemd-run at batch crontab expect strace ltrace flock screen tmux runuser pkexec sg newgrp setpriv capsh setarch linux32 linux64 prlimit chrt numactl choom runcon fakeroot proot bwrap firejail dbus-run-session xvfb-run entr watchexec start-stop-daemon run-parts unbuffer rlwrap sshpass torsocks proxychains proxychains4 faketime daemonize setlock softlimit valgrind perf hyperfine',
    { explicit: always(ELSEWHERE) },
  ],
  ['vi vim nvim ed ex emacs nano view sudoedit gdb lldb', { explicit: always('it is an interactive program that runs commands') }],
  ['alias', { explicit: (args) => (args.some((word) => word.dynamic || word.text.includes('=')) ? 'it defines an alias' : undefined) }],
  ['hash', { explicit: (args) => (args.length > 0 ? 'it changes where programs are found' : undefined) }],
  ['history', { explicit: (args) => (args.every((word) => /^\d+$/.test(word.text)) ? undefined : 'it reads, writes or replays commands') }],
  ['shopt', { explicit: shoptReason }],
  ['set', { explicit: setReason }],
  ['mapfile readarray', { explicit: mapfileReason }],
  ['read printf getopts declare local export readonly typeset unset', { explicit: decisiveNames }],
  [
    'file',
    {
      explicit: (args) =>
        hasOption(splitArguments(args).options, 'mC', '--magic-file', '--compile') ? 'an option names files with its rules' : undefined,
    },
  ],
  ['make git', { optionsDecide: true }],
  ['git', { textAfter: /^(?:-[a-zA-Z]*m|--message|--author|--date|--grep|--since|--until|-n|-S|-G)$/ }],
]
