/** Programs of the network and of keys. */
import type { Entry } from './facts.js'
import { copies, named } from './file-use.js'
import { gpgUse } from './archives.js'
import { curlUse, opensslUse, wgetUse } from './network-use.js'
import { always, opensslReason, programOption } from './reasons.js'

export const NETWORK: readonly Entry[] = [
  [
    'curl',
    {
      files: curlUse,
      optionsDecide: true,
      textAfter: /^(?:-[XAHdF]|--request|--user-agent|--header|--data|--data-(?:raw|binary|ascii|urlencode)|--json|--form)$/,
    },
  ],
  ['wget', { files: wgetUse, optionsDecide: true, explicit: programOption('e', '--use-askpass', '--execute') }],
  ['scp', { files: copies('reads', []), optionsDecide: true, explicit: programOption('SoFD'), brings: 'unknown' }],
  [
    'sftp',
    { files: named({ reads: '-b -i', operands: 'none' }), explicit: always('what it is told may change files and start programs here') },
  ],
  ['ssh slogin mosh autossh', { explicit: always('it runs a command on another machine') }],
  ['socat', { explicit: always('its addresses start programs and open files') }],
  ['nc ncat netcat', { explicit: programOption('ce', '--exec', '--sh-exec', '--lua-exec') }],
  ['openssl', { files: opensslUse, explicit: opensslReason }],
  [
    'gpg gpg2',
    {
      files: gpgUse(
        named({
          writes: '-o --output --log-file --logger-file --status-file --attribute-file --keyring --trustdb-name',
          reads: '--passphrase-file',
          texts: '-r --recipient -u --local-user',
        }),
      ),
      explicit: programOption('', '--agent-program', '--dirmngr-program', '--gpg-program'),
    },
  ],
  ['ssh-keygen', { files: named({ reads: '-s -r', writes: '-f' }), explicit: programOption('Dw') }],
]
