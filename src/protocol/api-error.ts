/** The envelope of every error answer (service.md, Errors 1). Its schema stands apart: who only throws errors does not load what reads them. */
import * as z from 'zod'

export const ApiError = z
  .looseObject({
    code: z.string(),
    message: z.string(),
    retryable: z.boolean(),
    details: z.record(z.string(), z.unknown()),
    requestId: z.string().optional(),
  })
  .meta({ id: 'ApiError' })
export type ApiError = z.infer<typeof ApiError>
