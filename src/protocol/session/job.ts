/** Commands that run in the background for a session, served by `dev.svc.shell` (http-contract §2.4, §5.5; sessions-events §10.6). */
import * as z from 'zod'
import { defineRoute } from '../route.js'

/** How a command has ended: by itself, with a failure, too late, by somebody who stopped it, or with its server. */
export const JobStatus = z.enum(['completed', 'error', 'timed_out', 'cancelled', 'interrupted'])
export type JobStatus = z.infer<typeof JobStatus>

const BackgroundJobStopResponse = z
  .looseObject({ jobId: z.string(), status: z.literal('stopping') })
  .meta({ id: 'BackgroundJobStopResponse' })
export type BackgroundJobStopResponse = z.infer<typeof BackgroundJobStopResponse>

export const JobParams = z.strictObject({ session_id: z.string(), job_id: z.string() })

export const jobRoutes = {
  cancel: defineRoute({
    id: 'v2.sessions.jobs.cancel',
    method: 'DELETE',
    path: '/v2/sessions/{session_id}/jobs/{job_id}',
    tag: 'sessions',
    access: { class: 'session', param: 'session_id', lease: 'free' },
    params: JobParams,
    summary: 'Stop a command in the background. It is being ended when this is answered, and told as cancelled once nothing of it runs.',
    success: { status: 200, description: 'It is being stopped.', schema: BackgroundJobStopResponse },
  }),
} as const
