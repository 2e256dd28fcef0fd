/** What a worker has in its hands: a bearer of its generation, and, for it, credentials for models that end soon. Neither opens anything else. */
import * as z from 'zod'
import { createSealed, type Sealed } from '../credentials/sealed.js'
import { WorkspaceKey } from '../records/machines.js'

const identity = { owner: WorkspaceKey, generation: z.int().positive(), runtimeId: z.string(), expiresAt: z.int() }

/** By which a worker is known to its host. */
export const WorkerBearer = z.strictObject(identity)
export type WorkerBearer = z.infer<typeof WorkerBearer>

export const ModelCredential = z.strictObject({ ...identity, provider: z.string() })
export type ModelCredential = z.infer<typeof ModelCredential>

/** `key` is shared by controllers and bridges: a bridge writes the bearer into the machine that it makes. */
export const createWorkerBearers = (key: Uint8Array): Sealed<WorkerBearer> => createSealed('svc-host-worker-v1', key, WorkerBearer)
/** `key` is that of controllers alone. */
export const createModelCredentials = (key: Uint8Array): Sealed<ModelCredential> => createSealed('svc-host-model-v1', key, ModelCredential)
