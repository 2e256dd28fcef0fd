/**
 * Wider patterns to offer beside the exact command when somebody answers "always" (sessions-events §8.8).
 *
 * I1 A program with subcommands is offered with one of those listed here, never alone.
 * I2 What starts any program it is told (interpreters, wrappers, `docker run`, `npm exec`) or can throw work away by an option
 *    (`git reset`, `git push --force`, `git checkout .`, `git branch -D`) is not listed.
 */
import type { Entry, Subcommands } from './facts.js'

const NODE_PACKAGES: Subcommands = { of: 'test install ci add remove update ls list outdated why audit', named: 'run run-script' }

export const WIDER: readonly Entry[] = [
  [
    'ls cat head tail wc grep egrep fgrep cut tr pwd echo which basename dirname realpath readlink stat du df diff cmp cksum md5sum sha256sum seq sleep true false uname whoami id nproc',
    { wider: 'any' },
  ],
  [
    'git',
    {
      wider: {
        of: 'status log show diff add commit fetch pull merge tag blame describe shortlog rev-parse ls-files mv cherry-pick',
        groups: { stash: 'push pop apply list show', remote: 'show add remove get-url', worktree: 'list add' },
      },
    },
  ],
  ['npm', { wider: NODE_PACKAGES }],
  ['pnpm', { wider: NODE_PACKAGES }],
  ['yarn', { wider: NODE_PACKAGES }],
  ['cargo', { wider: { of: 'build check test clippy fmt doc tree add remove update fetch clean bench metadata' } }],
  ['go', { wider: { of: 'build vet test fmt list doc get version env clean', groups: { mod: 'tidy download verify graph why' } } }],
  ['pip', { wider: { of: 'install uninstall list show freeze check download' } }],
  ['pip3', { wider: { of: 'install uninstall list show freeze check download' } }],
  ['poetry', { wider: { of: 'install add remove update show check lock build' } }],
  ['uv', { wider: { of: 'sync lock add remove tree', groups: { pip: 'install uninstall list show freeze check' } } }],
  [
    'docker',
    {
      wider: {
        of: 'ps images logs inspect pull stop start restart stats version info',
        groups: {
          compose: 'ps logs stop start restart pull config',
          image: 'ls inspect pull',
          container: 'ls inspect logs',
          volume: 'ls inspect',
        },
      },
    },
  ],
  [
    'kubectl',
    {
      wider: {
        of: 'get describe logs top explain version',
        groups: { config: 'view get-contexts current-context', rollout: 'status history' },
      },
    },
  ],
  [
    'gh',
    {
      wider: {
        groups: {
          pr: 'list view diff status checks create comment checkout',
          issue: 'list view status create comment',
          run: 'list view watch',
          repo: 'list view',
          release: 'list view',
          workflow: 'list view',
        },
      },
    },
  ],
  ['brew', { wider: { of: 'list info search install upgrade update outdated' } }],
  ['apt-get', { wider: { of: 'update install upgrade' } }],
  ['apt', { wider: { of: 'update install upgrade list show search' } }],
  ['systemctl', { wider: { of: 'status show list-units is-active' } }],
]
