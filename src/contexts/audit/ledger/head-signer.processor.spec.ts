import { expect, it } from '@jest/globals';
import { systemClock } from '../../../kernel/clock.js';
import { HeadSigner } from './head-signer.processor.js';
import { auditConfig } from '../audit.config.js';

it('a head is signed every 60 s where AUDIT_HEAD_SECONDS is 60', () => {
  const unused = undefined as never;
  const config = auditConfig({ AUDIT_HEAD_SECONDS: '60' });
  const signer = new HeadSigner(unused, unused, unused, unused, unused, systemClock, config);
  expect(signer.work.options.everyMs).toBe(60_000);
});
