/**
 * Wider patterns to offer beside the exact command when somebody answers "always" (sessions-events §8.8).
 *
 * I1 A program with subcommands is offered with one of those listed here, never alone.
 * I2 What starts any program it is told (interpreters, wrappers, `docker run`, `npm exec`) or throws work away (`git reset`) is not listed.
 */

/** Words that may follow the program, in lists separated by blanks. */
interface Subcommands {
  /** `<program> <subcommand> *` */
  readonly of?: string
  /** `<program> <group> <subcommand> *` */
  readonly groups?: Readonly<Record<string, string>>
  /** Groups whose next word is a name of the project, such as a script. */
  readonly named?: string
}

const READERS = new Set(
  'ls cat head tail wc grep egrep fgrep cut tr pwd echo which basename dirname realpath readlink stat du df diff cmp cksum md5sum sha256sum seq sleep true false uname whoami id nproc'.split(
    ' ',
  ),
)

const NODE_PACKAGES: Subcommands = { of: 'test install ci add remove update ls list outdated why audit', named: 'run run-script' }

const PROGRAMS: Readonly<Record<string, Subcommands>> = {
  git: {
    of: 'status log show diff add commit fetch pull push merge switch checkout branch tag blame describe shortlog rev-parse ls-files mv cherry-pick',
    groups: { stash: 'push pop apply list show drop', remote: 'show add remove get-url', worktree: 'list add remove' },
  },
  npm: NODE_PACKAGES,
  pnpm: NODE_PACKAGES,
  yarn: NODE_PACKAGES,
  cargo: { of: 'build check test clippy fmt doc tree add remove update fetch clean bench metadata' },
  go: { of: 'build vet test fmt list doc get version env clean', groups: { mod: 'tidy download verify graph why' } },
  pip: { of: 'install uninstall list show freeze check download' },
  pip3: { of: 'install uninstall list show freeze check download' },
  poetry: { of: 'install add remove update show check lock build' },
  uv: { of: 'sync lock add remove tree', groups: { pip: 'install uninstall list show freeze check' } },
  docker: {
    of: 'ps images logs inspect pull stop start restart stats version info',
    groups: {
      compose: 'ps logs stop start restart pull config',
      image: 'ls inspect pull',
      container: 'ls inspect logs',
      volume: 'ls inspect',
    },
  },
  kubectl: {
    of: 'get describe logs top explain version',
    groups: { config: 'view get-contexts current-context', rollout: 'status history' },
  },
  gh: {
    groups: {
      pr: 'list view diff status checks create comment checkout',
      issue: 'list view status create comment',
      run: 'list view watch',
      repo: 'list view',
      release: 'list view',
      workflow: 'list view',
    },
  },
  brew: { of: 'list info search install upgrade update outdated' },
  'apt-get': { of: 'update install upgrade' },
  apt: { of: 'update install upgrade list show search' },
  systemctl: { of: 'status show list-units is-active' },
}

/** The pattern to offer beside `text`, one program as it is asked about; undefined when there is none. */
export function widerCommand(text: string): string | undefined {
  const [program = '', first = '', second = ''] = text.split(' ')
  if (READERS.has(program)) return `${program} *`
  if (!Object.hasOwn(PROGRAMS, program)) return undefined
  const { of = '', groups = {}, named = '' } = PROGRAMS[program] ?? {}
  if (has(of, first)) return `${program} ${first} *`
  const nested = has(named, first) ? isName(second) : Object.hasOwn(groups, first) && has(groups[first] ?? '', second)
  return nested ? `${program} ${first} ${second} *` : undefined
}

function has(words: string, word: string): boolean {
  return word !== '' && words.split(' ').includes(word)
}

function isName(word: string): boolean {
  return /^[\w:.@/][\w:.@/-]*$/.test(word)
}
