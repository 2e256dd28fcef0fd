/** Connections are stored credentials of providers (subsystems c.5); this server keeps none. */
import { SvcError } from '../../protocol/errors.js'
import type { ModelRef } from '../../protocol/message/message.js'

/** A connection that is named is meant: no other credential is used in its place (subsystems c.6). */
export function refuseConnection({ providerId, connectionId }: Pick<ModelRef, 'providerId' | 'connectionId'>): void {
  if (connectionId === undefined) return
  const message = `There is no connection "${connectionId}" of provider "${providerId}": this server stores no credentials. Leave "connectionId" out; keys come from the environment.`
  throw new SvcError('request.unprocessable', message, { providerId, connectionId })
}
