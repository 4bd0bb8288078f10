/** The contexts of the service. A new context is one line here and a folder. */
export { access } from './access/access.module.js';
export { users } from './users/users.module.js';
export { onboarding } from './onboarding/onboarding.module.js';
export { payouts } from './payouts/payouts.module.js';
export { tracking } from './tracking/tracking.module.js';
export { audit } from './audit/audit.module.js';
export { webhooks } from './webhooks/webhooks.module.js';
export { exchange } from './exchange/exchange.module.js';
export { operations } from './operations/operations.module.js';
