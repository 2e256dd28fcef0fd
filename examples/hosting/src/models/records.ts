/** What a worker and its host say to each other of credentials for models. */
import * as z from 'zod'

export const CredentialRequest = z.strictObject({
  version: z.literal(1),
  tenantId: z.string(),
  workspaceId: z.string(),
  runtimeId: z.string(),
  runtimeGeneration: z.int().positive(),
  provider: z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/),
})
export type CredentialRequest = z.infer<typeof CredentialRequest>

/** A provider of models, of which only controllers know the key. */
export const ModelProvider = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/),
  /** What stands before the path of a request; without a `/` at the end. */
  url: z.url(),
  keyFile: z.string(),
  /** By which header it takes its key; a worker uses the same one. */
  header: z.enum(['authorization', 'x-api-key', 'x-goog-api-key']).default('authorization'),
})
export type ModelProvider = z.infer<typeof ModelProvider>
