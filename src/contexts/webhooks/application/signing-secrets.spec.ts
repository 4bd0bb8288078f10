import { expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';
import { SigningSecrets } from './signing-secrets.js';

const place = (): { merchant_id: string; endpoint_id: string } => ({
  merchant_id: newId(),
  endpoint_id: newId(),
});

it('a secret opens for its own merchant and endpoint alone, however often it was opened there', () => {
  const secrets = new SigningSecrets(new Sealer(Buffer.alloc(32, 1)));
  const own = place();
  const sealed = secrets.create(own);
  const opened = secrets.open(own, sealed);
  expect(opened).toMatch(/^whsec_/);
  expect(secrets.open(own, sealed)).toBe(opened);
  for (const other of [place(), { ...own, endpoint_id: newId() }, { ...own, merchant_id: newId() }])
    expect(() => secrets.open(other, sealed)).toThrow(SealError);
  expect(secrets.open(own, sealed)).toBe(opened);
});
