/** A session among several clients: forks, who took part, who controls it, and where it could move (http-contract §2.5, §5.5). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { queryInt, uint } from '../shared.js'
import { Session } from './session.js'

export const ForkSessionRequest = z.strictObject({ messageId: z.string().optional() }).meta({ id: 'ForkSessionRequest' })
export type ForkSessionRequest = z.infer<typeof ForkSessionRequest>

const actorType = z.enum(['human', 'service-account'])

/** The lease of the client that controls a session. `revision` grows with every change of it, and over its end. */
export const SessionControl = z
  .looseObject({
    sessionId: z.string(),
    controllerSubject: z.string(),
    actorType,
    leaseExpiresAt: uint,
    revision: z.number().int().min(1),
    updated: uint,
  })
  .meta({ id: 'SessionControl' })
export type SessionControl = z.infer<typeof SessionControl>

export const ClaimSessionControlRequest = z
  .strictObject({
    /** The revision the claim is made on; 0 = nobody has ever held it. */
    expectedRevision: uint.optional(),
    leaseSeconds: z.number().int().min(15).max(300).default(60),
  })
  .meta({ id: 'ClaimSessionControlRequest' })
export type ClaimSessionControlRequest = z.infer<typeof ClaimSessionControlRequest>

export const SessionParticipant = z
  .looseObject({ subject: z.string(), actorType, firstSeenAt: uint, lastSeenAt: uint })
  .meta({ id: 'SessionParticipant' })
export type SessionParticipant = z.infer<typeof SessionParticipant>

const ONE = '/v2/sessions/{session_id}'
const common = {
  tag: 'sessions',
  access: { class: 'session', param: 'session_id' },
  params: z.strictObject({ session_id: z.string() }),
} as const

export const sharingRoutes = {
  fork: defineRoute({
    ...common,
    id: 'v2.sessions.fork',
    method: 'POST',
    path: `${ONE}/fork`,
    summary: 'Copy a session, whole or up to a message, into a child of it.',
    body: { schema: ForkSessionRequest, required: false },
    success: { status: 200, description: 'The new session.', schema: Session },
  }),
  directoryOptions: defineRoute({
    ...common,
    id: 'v2.sessions.directoryOptions',
    method: 'GET',
    path: `${ONE}/directory-options`,
    query: z.strictObject({ query: z.string().max(4096).optional(), limit: queryInt(1, 1000).optional() }),
    summary: 'Directories the session could move to that begin with a text: absolute, from the home folder, or from its directory.',
    success: { status: 200, description: 'Absolute paths.', schema: z.array(z.string()) },
  }),
  participants: defineRoute({
    ...common,
    id: 'v2.sessions.participants.list',
    method: 'GET',
    path: `${ONE}/participants`,
    summary: 'Who has prompted the session or claimed control of it.',
    success: { status: 200, description: 'Participants, first come first.', schema: z.array(SessionParticipant) },
  }),
  control: defineRoute({
    ...common,
    id: 'v2.sessions.control.get',
    method: 'GET',
    path: `${ONE}/control`,
    summary: 'Who controls the session now.',
    success: { status: 200, description: 'The lease; null when nobody does.', schema: SessionControl.nullable() },
  }),
  claimControl: defineRoute({
    ...common,
    access: { ...common.access, lease: 'free' },
    id: 'v2.sessions.control.claim',
    method: 'POST',
    path: `${ONE}/control`,
    summary:
      'Take control of the session, or keep it, for some seconds. While it is held, whoever is somebody else may read the session, wait for it and abort it, and changes nothing of it (409). Who is somebody else is told by the credential: without one, or with the one token of a server, all callers are the same.',
    body: { schema: ClaimSessionControlRequest, required: true },
    success: { status: 200, description: 'The lease.', schema: SessionControl },
  }),
  releaseControl: defineRoute({
    ...common,
    access: { ...common.access, lease: 'free' },
    id: 'v2.sessions.control.release',
    method: 'DELETE',
    path: `${ONE}/control`,
    query: z.strictObject({ expectedRevision: queryInt(0, Number.MAX_SAFE_INTEGER).optional() }),
    summary: 'Give up control of the session.',
    success: { status: 200, description: 'Whether it was held.', schema: z.boolean() },
  }),
} as const
