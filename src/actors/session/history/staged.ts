/** Of a session that is being made in several commits: the tenant nobody can be, so that it is in no list and nobody may use it. What an earlier process left is removed at the start. */
export const STAGED_TENANT = ' import'
