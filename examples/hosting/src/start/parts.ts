/** Parts of a host for programs that look into one: an operator's tool, or a test. */
export { openDatabase } from '../database/open.js'
export { createSigner } from '../credentials/worker-token.js'
export { createGrants } from '../credentials/grant.js'
export { createProvider } from '../provider/provider.js'
export { createModelCredentials, createWorkerBearers } from '../models/credentials.js'
export { findPrograms } from './cluster.js'
