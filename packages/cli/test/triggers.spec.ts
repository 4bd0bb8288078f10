import { expect, it } from '@jest/globals';
import { EVENT_TYPES } from '../../../src/contexts/webhooks/endpoints/event-types.js';
import { TRIGGERS } from '../src/trigger/triggers.mjs';

it('every type of the webhook catalogue can be triggered, and no other', () => {
  expect(Object.keys(TRIGGERS).sort()).toEqual([...EVENT_TYPES].sort());
});
