import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import { PersonalKeys } from '../../../platform/sealing/personal-keys.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { onboardingConfig } from '../onboarding.config.js';
import { Images } from './images.store.js';

const DAYS = 7;

describe('images of documents and faces', () => {
  const db = onTestDatabase();
  let keys: PersonalKeys;
  let images: Images;
  beforeAll(() => {
    keys = new PersonalKeys(db.database, new Sealer(randomBytes(32)));
    images = new Images(db.database, keys, { ...onboardingConfig({}), onboardingImageDays: DAYS });
  });

  const keep = (userId: string, kind: 'document_front' | 'selfie', bytes = 'photo'): Promise<void> =>
    images.keep(userId, { kind, type: 'image/jpeg', bytes: Buffer.from(bytes) });
  const age = async (userId: string, interval: string): Promise<void> => {
    await db.database.query(
      'update onboarding.images set stored_at = stored_at - $2::interval where user_id = $1',
      [userId, interval],
    );
  };

  it('are deleted ONBOARDING_IMAGE_DAYS after they were stored or last replaced', async () => {
    const userId = newId();
    await keep(userId, 'document_front');
    await keep(userId, 'selfie');
    await age(userId, `${DAYS} days`);
    await keep(userId, 'selfie', 'retaken');
    await images.deleteOld();
    const [left, ...others] = await images.of(userId);
    expect(others).toEqual([]);
    expect([left!.kind, left!.bytes.toString()]).toEqual(['selfie', 'retaken']);
    await age(userId, `${DAYS} days`);
    await images.deleteOld();
    expect(await images.kinds(userId)).toEqual([]);
  });

  it('are deleted once the provider has them, except images that were replaced meanwhile', async () => {
    const userId = newId();
    await keep(userId, 'document_front');
    await keep(userId, 'selfie');
    await age(userId, '1 minute');
    await keep(userId, 'selfie', 'retaken');
    await images.deleteUntil(userId, new Date(Date.now() - 30_000));
    expect(await images.kinds(userId)).toEqual(['selfie']);
  });

  it('of an erased person are neither stored nor read', async () => {
    const userId = newId();
    await keep(userId, 'selfie');
    await keys.forget(userId);
    expect(await images.of(userId)).toEqual([]);
    await expect(keep(userId, 'selfie')).rejects.toMatchObject({ code: 'not_found' });
  });
});
