/** The sessions an agent has of its own in a directory, as it lists them (http-contract §2.5, ExternalSessionCatalog). */
import * as z from 'zod'
import { cut } from '../../kernel/cut.js'
import type { NativeHost } from '../../ports/plugin.js'
import type { ExternalSessionCatalog } from '../../protocol/external/external.js'
import { LIMITS } from '../../protocol/limits.js'
import { canLoad, canList } from './capabilities.js'
import { look, type Looked } from './looking.js'

const { options: MOST, text: TEXT } = LIMITS.external
const shown = z
  .string()
  .transform((text) => cut(text, TEXT))
  .nullish()
  .catch(undefined)
const Listed = z.looseObject({
  sessions: z.array(z.looseObject({ sessionId: z.string().min(1).max(512), cwd: z.string(), title: shown, updatedAt: shown })).max(1000),
  nextCursor: z.string().nullish(),
})

/** Throws `external.preview_failed`. */
export async function listSessions(
  host: Pick<NativeHost, 'effects' | 'actors' | 'stopping' | 'programs' | 'sandbox'>,
  looked: Looked,
): Promise<ExternalSessionCatalog> {
  const { provider, directory: cwd } = looked
  const sessions: ExternalSessionCatalog['sessions'] = []
  let why: string | undefined
  await look(
    host,
    looked,
    {
      async open(link, told) {
        if (canLoad(told) === undefined) why = `The agent "${provider}" cannot open an earlier session again.`
        else if (!canList(told)) why = `The agent "${provider}" does not list its sessions.`
        if (!canList(told)) return
        let cursor: string | null | undefined
        do {
          const page = Listed.safeParse(await link.request('session/list', { cwd, ...(cursor != null && { cursor }) }))
          if (!page.success) throw new Error('its list of sessions cannot be read')
          for (const { sessionId: externalSessionId, cwd: place, title, updatedAt } of page.data.sessions)
            if (place === cwd && sessions.length < MOST)
              sessions.push({ externalSessionId, ...(title != null && { title }), ...(updatedAt != null && { updatedAt }) })
          cursor = page.data.sessions.length === 0 ? undefined : page.data.nextCursor
        } while (cursor != null && sessions.length < MOST)
      },
    },
    'which sessions it has',
  )
  return { provider, cwd, sessions, importSupported: why === undefined, ...(why !== undefined && { importUnavailableReason: why }) }
}
