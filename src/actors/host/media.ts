/** Files that providers of plugins make for a session: they end as its artifacts, never as text of a message (plugin-protocol §7.2). */
import { LOCAL_TENANT, TRUSTED_CALLER } from '../../protocol/caller.js'
import { messageOf } from '../../protocol/message-of.js'
import type { MediaDoor, MediaWish } from '../../ports/doors.js'
import { type ProviderContribution, ToolError } from '../../ports/plugin.js'
import { type Rows, sessionOrThrow, type Sources } from '../session/state/core.js'
import { keptQuotas } from '../session/state/session-quota.js'

type Maker = Required<Pick<ProviderContribution, 'media' | 'builtin'>>

export function createMediaDoor(core: Rows & Sources): MediaDoor {
  const makers = (sessionId: string): Maker[] => {
    const { directory } = sessionOrThrow(core, sessionId)
    return core.plugins
      .current(directory, sessionId)
      .providers.flatMap(({ media, builtin }) => (media === undefined || builtin === undefined ? [] : [{ media, builtin }]))
  }
  return {
    isThere: (sessionId) => core.store.sessions.get(sessionId) !== undefined && makers(sessionId).length > 0,
    async make(sessionId, wish, signal) {
      const session = sessionOrThrow(core, sessionId)
      const maker = chosen(makers(sessionId), wish)
      const { kind, prompt, options = {} } = wish
      const providerId = maker.builtin.id
      const modelId = modelOf(maker, wish)
      const tenantId = session.svcTenantId ?? LOCAL_TENANT
      const asked = {
        kind,
        providerId,
        modelId,
        connectionId: null,
        tenantId: tenantId === LOCAL_TENANT ? null : tenantId,
        workspaceId: session.directory,
        prompt,
        options,
      }
      const { mime, filename, dataBase64, revisedPrompt } = await maker.media(asked, signal).catch((error: unknown) => {
        signal.throwIfAborted()
        throw new ToolError(`The provider "${providerId}" made no ${kind}: ${messageOf(error)}`)
      })
      signal.throwIfAborted()
      if (!mime.toLowerCase().startsWith(`${kind}/`))
        throw new ToolError(`The provider "${providerId}" made "${mime}", which is no ${kind}.`)
      const upload = { mediaType: mime, filename, sessionId, bytes: whole(Buffer.from(dataBase64, 'base64')) }
      const artifact = await core.artifacts.create({ ...TRUSTED_CALLER, tenantId, ...keptQuotas({}, session) }, upload)
      return { artifact, providerId, modelId, revisedPrompt: revisedPrompt ?? undefined }
    },
  }
}

function chosen(makers: readonly Maker[], { kind, providerId }: MediaWish): Maker {
  const ids = makers.map(({ builtin: { id } }) => id)
  const maker =
    providerId === undefined ? (makers.length === 1 ? makers[0] : undefined) : makers.find(({ builtin }) => builtin.id === providerId)
  if (maker !== undefined) return maker
  if (ids.length === 0) throw new ToolError(`No provider here makes ${kind === 'image' ? 'an image' : 'a video'}.`)
  throw new ToolError(
    `${providerId === undefined ? 'Say which provider' : `No provider "${providerId}" makes files`}: there are ${ids.join(', ')}.`,
  )
}

function modelOf({ builtin: { id, models } }: Maker, { modelId }: MediaWish): string {
  const model = modelId ?? models[0]?.id
  if (model !== undefined && (models.length === 0 || models.some((each) => each.id === model))) return model
  throw new ToolError(
    `The provider "${id}" has no model "${model ?? ''}": it has ${models.map((each) => each.id).join(', ') || 'none, so name one'}.`,
  )
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
