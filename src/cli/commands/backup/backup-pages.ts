/** What `svc backup` and `svc restore` take. */
import { JSON_OUT, type Page } from '../../line/page.js'

export const BACKUP = {
  name: 'backup',
  summary: 'write everything svc keeps into one file, also while a server runs',
  words: [{ name: 'file', needs: 'the name of the file to write', completes: 'file' }],
  options: {
    'with-credentials': { type: 'flag', help: 'keys and sign-ins too', otherwise: 'they are left out' },
    replace: { type: 'flag', help: 'write over a file of that name' },
    json: JSON_OUT,
  },
  examples: [
    ['svc backup ~/svc-monday.tar', 'a server that runs goes on'],
    ['svc backup --with-credentials /mnt/safe/svc.tar', 'for another machine that shall go on as this one'],
  ],
  notes: [
    'In it are the conversations, what was uploaded, the outputs of tools, states for undo, notes, workflows and the configuration with the plugins and their approvals; not the log, the cache and the index of the search, which is made again. Configuration that names a key holds that key: the file is for its owner alone.',
    'The file has its name when it is whole. While it is written, the disk needs room for it and once more for the database.',
  ],
} as const satisfies Page

export const RESTORE = {
  name: 'restore',
  summary: 'put a backup in the place of what svc keeps',
  words: [{ name: 'file', needs: 'the file of a backup', completes: 'file' }],
  options: {
    state: { type: 'text', value: 'directory', help: 'into this state directory', otherwise: 'that of svc', completes: 'directory' },
    replace: { type: 'flag', help: 'set aside what is there', otherwise: 'only an empty directory is taken' },
    'without-configuration': { type: 'flag', help: 'leave the configuration as it is' },
    json: JSON_OUT,
  },
  examples: [
    ['svc restore ~/svc-monday.tar', 'on a machine where svc has kept nothing yet'],
    ['svc restore --replace ~/svc-monday.tar', 'what is there goes into a folder beside it, which is named'],
    ['svc restore --state /tmp/look --without-configuration svc.tar', 'to look at it with SVC_AGENT_STATE_DIR=/tmp/look'],
  ],
  notes: [
    'The backup is unpacked beside and held against its list of digests before anything moves; a restore that is killed is ended by the next start, or was never begun. No server may use the directory meanwhile. Credentials that are there stay where the backup has none.',
  ],
} as const satisfies Page

export interface BackupCommand {
  readonly file: string
  readonly credentials: boolean
  readonly replace: boolean
  readonly json: boolean
}

export interface RestoreCommand {
  readonly file: string
  readonly state: string | undefined
  readonly replace: boolean
  readonly configuration: boolean
  readonly json: boolean
}
