import type { Resource } from '../../kit/resource.js';
import { events, lookups } from './activity.js';
import { keys } from './keys.js';
import { orders, payouts } from './money.js';
import { requests } from './requests.js';
import { deliveries, endpoints } from './webhooks.js';

export { ANYONE } from './activity.js';

export const RESOURCES: readonly Resource[] = [
  endpoints,
  deliveries,
  requests,
  keys,
  payouts,
  orders,
  events,
  lookups,
];
