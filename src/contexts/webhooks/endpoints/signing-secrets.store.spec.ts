import { expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';
import { signatureHeader, SigningSecrets } from './signing-secrets.store.js';

const body = '{"id":"d","data":{"name":"é😀"}}';
const timestamp = Math.floor(Date.now() / 1000);

it('the signature equals the test vector of the Standard Webhooks specification', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
  };
  expect(signatureHeader([secret], message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

const place = (): { merchant_id: string; endpoint_id: string } => ({
  merchant_id: newId(),
  endpoint_id: newId(),
});

it('a sealed secret can be unsealed only for its merchant and endpoint, even repeatedly', () => {
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

it('a delivery is signed with the present secret and with former ones that have not expired', () => {
  const secrets = new SigningSecrets(new Sealer(Buffer.alloc(32, 1)));
  const own = place();
  const [present, valid, expired] = [1, 2, 3].map(() => secrets.create(own)) as [string, string, string];
  const at = new Date(timestamp * 1000 + 500);
  const expiresIn = (ms: number): string => new Date(at.getTime() + ms).toISOString();
  const former_secrets = [
    { sealed: valid, expires_at: expiresIn(1) },
    { sealed: expired, expires_at: expiresIn(0) },
  ];
  const message = { id: 'd', timestamp, body };
  expect(secrets.sign(own, { sealed_signing_secret: present, former_secrets }, at, message)).toBe(
    signatureHeader(
      [present, valid].map((each) => secrets.open(own, each)),
      message,
    ),
  );
});

it('a MAC by a key that the process does not have yet is valid after a refresh of the key ring', async () => {
  const [former, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const created = { ...place(), delivery_id: newId(), type: 'payout.received', is_test: false, body };
  const delivery = { ...created, mac: new SigningSecrets(new Sealer(fresh, [former])).toMac(created) };
  const sealer = new Sealer(former);
  expect(await new SigningSecrets(sealer).isAuthentic(delivery)).toBe(false);
  const refresh = async (): Promise<void> => sealer.setKeys(fresh, [former]);
  expect(await new SigningSecrets(sealer, { refresh }).isAuthentic(delivery)).toBe(true);
});
