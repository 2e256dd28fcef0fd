/**
 * The file `plugin-auth.json` of the state directory: secrets that people gave to plugins (decision 46).
 *
 * A document file as others are (I1 to I5 there); its changes are made under a lock that the command line heeds too.
 * What was given counts for the hosts it was given for: a package that names others later is given it anew.
 */
import { join } from 'node:path'
import * as z from 'zod'
import { createDocumentFile } from '../../../../kernel/document-file.js'
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import type { Effects } from '../../../../ports/effects.js'
import { lockCredentials } from '../../../provider/credentials/credential-file.js'

const Given = z.looseObject({
  value: z.string(),
  /** Where requests may carry it, as the manifest said when it was given. */
  hosts: z.array(z.string()).default([]),
  /** Unix ms. */
  givenAt: z.number().default(0),
})
export type GivenSecret = z.infer<typeof Given>

const Document = z.record(z.string(), z.record(z.string(), Given))
type Document = z.infer<typeof Document>

export interface SecretFile {
  get(pluginId: string, alias: string): Promise<GivenSecret | undefined>
  /** Undefined removes it; answers whether there was one. Throws `resource.conflict` and `quota.exceeded`. */
  set(pluginId: string, alias: string, given: GivenSecret | undefined): Promise<boolean>
  /** Removes all that a plugin was given: nobody who takes its id later has it. Throws as `set`. */
  forget(pluginId: string): Promise<void>
}

export function createSecretFile(effects: Pick<Effects, 'files' | 'paths' | 'clock' | 'log'>): SecretFile {
  const { files, paths, log } = effects
  const path = join(paths.state, 'plugin-auth.json')
  const { fileBytes } = LIMITS.connections
  const file = createDocumentFile<Document>({
    empty: {},
    parse: (value) => Document.parse(value),
    files,
    path,
    most: fileBytes,
    write: (document) => `${JSON.stringify(document, null, 2)}\n`,
    lock: () => lockCredentials(effects, path, `${path}.lock`, LIMITS.connections.lockWait),
    full: () =>
      new SvcError('quota.exceeded', `The file ${path} would be larger than ${fileBytes} bytes; remove a secret first.`, { path }),
    onMalformed: () => log.warn('the file of secrets of plugins cannot be read: no plugin has a secret', { path }),
    malformed: () =>
      new SvcError('resource.conflict', `The file ${path} is malformed; nothing was changed. Repair it, or move it away.`, { path }),
  })
  return {
    get: async (pluginId, alias) => secretIn(await file.read(), pluginId, alias),
    set: (pluginId, alias, given) =>
      file.change((document) => {
        const before = secretIn(document, pluginId, alias)
        if (given === undefined && before === undefined) return [document, false]
        const { [alias]: _, ...kept } = ownOf(document, pluginId)
        const own = given === undefined ? kept : { ...kept, [alias]: given }
        const { [pluginId]: __, ...others } = document
        return [Object.keys(own).length === 0 ? others : { ...others, [pluginId]: own }, before !== undefined]
      }),
    async forget(pluginId) {
      if (!Object.hasOwn((await file.read()) ?? {}, pluginId)) return
      await file.change((document) => {
        const { [pluginId]: _, ...others } = document
        return [others, undefined]
      })
    },
  }
}

function ownOf(document: Document, pluginId: string): Document[string] {
  return (Object.hasOwn(document, pluginId) ? document[pluginId] : undefined) ?? {}
}

function secretIn(document: Document | undefined, pluginId: string, alias: string): GivenSecret | undefined {
  const own = ownOf(document ?? {}, pluginId)
  return Object.hasOwn(own, alias) ? own[alias] : undefined
}
