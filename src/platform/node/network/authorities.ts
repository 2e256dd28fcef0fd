/** Certificate authorities besides those of Node. */
import { readFileSync } from 'node:fs'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * What connections trust when `SSL_CERT_FILE` is set: Node's authorities and those of the file. Undefined = as Node has it, which reads
 * `NODE_EXTRA_CA_CERTS` itself. Throws when the file cannot be read: nothing would be reached, for a reason nobody sees.
 */
export function certificateAuthorities(env: Environment): readonly string[] | undefined {
  const file = env['SSL_CERT_FILE']
  if (file === undefined || file === '') return undefined
  const extra = env['NODE_EXTRA_CA_CERTS']
  const { rootCertificates } = process.getBuiltinModule('node:tls') // 10 ms of a start
  return [...rootCertificates, ...[file, extra].flatMap((path) => (path === undefined || path === '' ? [] : [readFileSync(path, 'utf8')]))]
}
