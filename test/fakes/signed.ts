/** Credentials as the workspace daemon signs them. */
import { createHmac } from 'node:crypto'

export const DAEMON_KEY = 'the-key-of-the-daemon-0123456789'

/** Claims that are good for two minutes from `now` (Unix ms). */
export function claimsAt(now: number, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const issuedAt = Math.floor(now / 1000)
  return {
    issuer: 'svc-workspace-daemon',
    audience: 'svc-agent-server',
    subject: 'user:ada',
    workspaceId: null,
    tenantId: 'acme',
    directoryPrefixes: ['/srv/space'],
    hosted: false,
    issuedAt,
    expiresAt: issuedAt + 120,
    ...more,
  }
}

export function sign(claims: unknown, key = DAEMON_KEY): string {
  return signText(JSON.stringify(claims), key)
}

export function signText(payload: string, key = DAEMON_KEY): string {
  const head = `svc-daemon-v1.${Buffer.from(payload).toString('base64url')}`
  return `${head}.${createHmac('sha256', key).update(head).digest('base64url')}`
}
