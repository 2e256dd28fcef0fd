/** Programs of the network and of keys. */
import type { Entry } from './facts.js'
import { copies, named } from './file-use.js'
import { curlUse, opensslUse, wgetUse } from './network-use.js'
import { always, programOption, wordOption } from './reasons.js'

export const NETWORK: readonly Entry[] = [
  [
    'curl',
    {
      files: curlUse,
      optionsDecide: true,
      textAfter: /^(?:-[XAHdF]|--request|--user-agent|--header|--data|--data-(?:raw|binary|ascii|urlencode)|--json|--form)$/,
    },
  ],
  ['wget', { files: wgetUse, optionsDecide: true, explicit: programOption('', '--use-askpass') }],
  ['scp', { files: copies('reads', []), optionsDecide: true, explicit: programOption('SoF'), brings: 'unknown' }],
  ['sftp', { files: named({ reads: '-b -i', operands: 'none' }), optionsDecide: true, explicit: programOption('SoF') }],
  ['ssh slogin mosh autossh', { explicit: always('it runs a command on another machine') }],
  ['socat', { explicit: always('its addresses start programs and open files') }],
  ['nc ncat netcat', { explicit: programOption('ce', '--exec', '--sh-exec', '--lua-exec') }],
  ['openssl', { files: opensslUse, explicit: wordOption('-engine', '-provider', '-provider-path') }],
  [
    'gpg gpg2',
    {
      files: named({ writes: '-o --output', reads: '--passphrase-file --options' }),
      explicit: programOption('', '--agent-program', '--dirmngr-program', '--gpg-program'),
    },
  ],
  ['ssh-keygen', { files: named({ reads: '-s -r', writes: '-f' }) }],
]
