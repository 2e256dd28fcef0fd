/** `svc auth set` and `svc auth remove`. A key is read without being shown, and told to nobody but the server. */
import { SvcError } from '../../../protocol/errors.js'
import { connect } from '../../connection.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { askSecret, jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { RemoveOptions, SetOptions } from './auth-arguments.js'

/** Stores a key; answers 0. */
export async function setKey({ provider: providerId, label, server, json }: SetOptions): Promise<number> {
  const { signal, forget } = watchInterrupts(() => undefined)
  let key: string
  try {
    key = await askSecret(`Key of ${providerId} (it is not shown): `, signal)
  } catch (error) {
    if (signal.aborted) return 130
    throw error
  } finally {
    forget()
  }
  if (key === '') throw new SvcError('request.invalid', 'there was no key; nothing was stored')
  const connection = await connect(server)
  try {
    const credential = { type: 'api', key } as const
    const { providers } = connection.client
    if (label === undefined) await providers.auth.set({ providerId, body: credential })
    else await providers.connections.create({ providerId, body: { label, credential, setDefault: true } })
    if (json) writeOut(`${jsonText({ providerId, stored: true }, 2)}\n`)
    else
      writeOut(
        `the key of ${providerId} is stored; try: svc run --model ${providerId}/… "hello" (svc models ${providerId} lists its models)\n`,
      )
    return 0
  } finally {
    await connection.close()
  }
}

/** Forgets a connection; answers 0, or 1 when there is none. */
export async function removeKey({ provider: providerId, connection: named, server, json }: RemoveOptions): Promise<number> {
  const connection = await connect(server)
  try {
    const { connections } = connection.client.providers
    const all = await connections.list({ providerId })
    const found = all.filter(({ connectionId, label, isDefault }) =>
      named === undefined ? isDefault : connectionId === named || label === named,
    )
    if (found.length > 1)
      throw new SvcError('request.invalid', `several connections are called "${named}"; name one by its id: svc auth list`)
    const [one] = found
    const removed = one !== undefined && (await connections.delete({ providerId, connectionId: one.connectionId }))
    if (json) writeOut(`${jsonText({ providerId, ...(one && { connectionId: one.connectionId }), removed }, 2)}\n`)
    else if (removed)
      writeOut(`"${one.label}" of ${providerId} is forgotten here; what the provider itself has given out it can take back\n`)
    else writeError(`nothing is stored for ${providerId}${named === undefined ? '' : ` as "${named}"`}\n`)
    return removed ? 0 : 1
  } finally {
    await connection.close()
  }
}
