/** What a controller says of a worker, and of whoever may call it (subsystems d.9). Times are seconds since 1970. */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { isPlain } from '../text/plain-path.js'

const SECONDS_IN_MS = 1000
const { lifetime } = LIMITS.worker

const id = z.string().regex(/^[A-Za-z0-9_.:@-]{1,256}$/, 'has to be 1 to 256 letters, digits, "_", ".", ":", "@" or "-"')
/** Until the year 5138: a number of milliseconds is none. */
const seconds = z.number().int().positive().max(99_999_999_999, 'has to be in seconds')
const path = z
  .string()
  .max(LIMITS.tenants.prefix)
  .refine(isPlain, 'has to be an absolute path without ".", "..", empty parts, a "/" at the end or control characters')

export const WorkerBootstrap = z.strictObject({
  version: z.literal(1),
  tenantId: id,
  workspaceId: id,
  root: path.refine((root) => root !== '/', 'may not be "/"'),
  runtimeId: id,
  runtimeGeneration: z.number().int().min(1),
  expiresAt: seconds,
})
export type WorkerBootstrap = z.infer<typeof WorkerBootstrap>

export const WorkerScope = z.enum(['agent:read', 'agent:use', 'workspace:admin'])
export type WorkerScope = z.infer<typeof WorkerScope>

const uint = z.number().int().nonnegative()
/** As in the token file (subsystems d.3). */
const Quotas = z.strictObject({
  maxSessions: uint.optional(),
  maxArtifacts: uint.optional(),
  maxArtifactBytes: uint.optional(),
  artifactRetentionDays: uint.optional(),
  requestsPerMinute: uint.optional(),
  maxInFlight: uint.optional(),
  modelTokensPerDay: uint.optional(),
  modelCostPerDay: z.number().nonnegative().optional(),
})

/** Callers of a server itself: nobody is signed to be one of them. */
const OURS = /^(?:local|local-operator|hosted:.*)$/

export const WorkerClaims = z
  .strictObject({
    version: z.literal(1),
    tenantId: id,
    workspaceId: id,
    runtimeId: id,
    runtimeGeneration: z.number().int().min(1),
    subject: id.refine((subject) => !OURS.test(subject)),
    actorType: z.enum(['human', 'service-account']),
    directoryPrefix: path,
    scopes: z.array(WorkerScope).refine((scopes) => new Set(scopes).size === scopes.length),
    quotas: Quotas.nullish(),
    issuedAt: seconds,
    expiresAt: seconds,
  })
  .refine(({ issuedAt, expiresAt }) => expiresAt > issuedAt && (expiresAt - issuedAt) * SECONDS_IN_MS <= lifetime)
export type WorkerClaims = z.infer<typeof WorkerClaims>
