/** Sessions that an agent of others answers (http-contract §2.5, §5.5; subsystems l.4). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { Session } from '../session/session.js'
import { directoryHeaders, directoryQuery } from '../shared.js'
import {
  ExternalImportRequest,
  ExternalOptionSetRequest,
  ExternalPreviewQuery,
  ExternalSessionCatalog,
  ExternalSessionOptions,
} from './external.js'

/** What `v2.sessions.create` becomes when an external agent is named. */
export const CREATE_EXTERNAL = 'external.sessions.create'

export const ExternalSessionParams = z.strictObject({ session_id: z.string() })

const options = {
  tag: 'sessions',
  access: { class: 'session', param: 'session_id' },
  params: ExternalSessionParams,
  path: '/v2/sessions/{session_id}/external/options',
  success: { status: 200, description: 'What may be chosen, and what is.', schema: ExternalSessionOptions },
} as const

export const externalSessionRoutes = {
  catalog: defineRoute({
    id: 'v2.sessions.external.catalog',
    method: 'GET',
    path: '/v2/sessions/external/catalog',
    tag: 'sessions',
    summary: 'Sessions that an external agent has of its own in a directory.',
    access: { class: 'directory' },
    query: ExternalPreviewQuery,
    headers: directoryHeaders,
    success: { status: 200, description: 'What it lists; it is started for that, and ended again.', schema: ExternalSessionCatalog },
  }),
  import: defineRoute({
    id: 'v2.sessions.external.import',
    method: 'POST',
    path: '/v2/sessions/external/import',
    tag: 'sessions',
    summary: 'Begin a session that goes on with one of those of an external agent.',
    access: { class: 'directory' },
    query: z.strictObject(directoryQuery),
    headers: directoryHeaders,
    body: { schema: ExternalImportRequest, required: true },
    success: { status: 200, description: 'The session. What was said before stays with the agent.', schema: Session },
  }),
  options: defineRoute({
    ...options,
    id: 'v2.sessions.external.options.get',
    method: 'GET',
    summary: 'Tell what may be chosen of the agent that answers a session.',
  }),
  setOption: defineRoute({
    ...options,
    id: 'v2.sessions.external.options.set',
    method: 'POST',
    summary: 'Choose something of the agent that answers a session, from its next turn on.',
    body: { schema: ExternalOptionSetRequest, required: true },
  }),
} as const

/** What its plugin serves among the sessions, where no prefix of an address tells whose it is. */
export const EXTERNAL_OPERATIONS: ReadonlySet<string> = new Set([
  CREATE_EXTERNAL,
  ...Object.values(externalSessionRoutes).map(({ id }) => id),
])
