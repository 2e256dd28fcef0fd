/** Sessions that an agent of others answers (http-contract §2.5; subsystems l.4). */

/** What `v2.sessions.create` becomes when an external agent is named. */
export const CREATE_EXTERNAL = 'external.sessions.create'
