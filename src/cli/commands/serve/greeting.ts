/** What `svc serve` tells a person at a terminal beside its address. */
import { isLoopbackName } from '../../../http/admission/doors.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { ServeOptions } from '../../../server/serve-options.js'
import type { Line } from '../../terminal/span.js'

export interface Greeting {
  readonly url: string
  readonly options: Pick<ServeOptions, 'hostname' | 'origins' | 'hosts'>
  /** `provider/model` that is asked where a session names none; null when there is none. */
  readonly model: string | null
  readonly hasToken: boolean
  readonly state: string
}

const OFFLINE = 'svc/offline'

/** Pure. */
export function greeting({ url, options, model, hasToken, state }: Greeting): readonly Line[] {
  const { hostname, origins, hosts } = options
  const reach = isLoopbackName(hostname) ? 'programs of this machine' : 'whoever reaches this address'
  const rows: [string, string][] = [
    ['inspector', `${url}/v2/inspector`],
    [
      'model',
      model === OFFLINE ? `${OFFLINE}, which is no AI; svc models tells the one step to another` : (model ?? 'none; svc doctor tells why'),
    ],
    ['open to', `${reach}, ${hasToken ? 'with the token' : 'without a token'}`],
    ...origins.map((origin): [string, string] => ['', `pages of ${origin}`]),
    ...hosts.map((host): [string, string] => ['', `the name ${host}`]),
    ['state', state],
    ['log', 'svc logs -f'],
    ['ends with', 'Ctrl-C'],
  ]
  return rows.map(([label, text]) => [{ text: `  ${label.padEnd(10)} `, styles: ['dim'] }, { text: printable(text) }])
}
