import { Inject, Injectable } from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { Database } from '../../../platform/postgres/database.js';
import { PersonalKeys } from '../../../platform/sealing/personal-keys.js';
import type { IdentityImage, ImageKind } from './image-kind.js';
import { onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';

type ImageRow = Omit<IdentityImage, 'bytes'> & { readonly sealed: string };

/** Stores the images for the identity provider, one per kind, sealed with the person's key. */
@Injectable()
export class Images {
  constructor(
    private readonly database: Database,
    private readonly personalKeys: PersonalKeys,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
  ) {}

  /** Replaces the stored image of the same kind. Throws `not_found` for an erased person. */
  async keep(userId: string, { kind, type, bytes }: IdentityImage): Promise<void> {
    const key = await this.personalKeys.obtain(userId);
    if (key === null) throw DomainError.notFound('User');
    await this.database.query(
      `insert into onboarding.images (user_id, kind, type, sealed) values ($1, $2, $3, $4)
       on conflict (user_id, kind) do update set type = excluded.type, sealed = excluded.sealed, stored_at = now()`,
      [userId, kind, type, key.seal(bytes, toAssociatedData(userId, kind))],
    );
  }

  async kinds(userId: string): Promise<readonly ImageKind[]> {
    const rows = await this.database.query<{ kind: ImageKind }>(
      'select kind from onboarding.images where user_id = $1 order by kind',
      [userId],
    );
    return rows.map(({ kind }) => kind);
  }

  async of(userId: string): Promise<readonly IdentityImage[]> {
    const rows = await this.database.query<ImageRow>(
      'select kind, type, sealed from onboarding.images where user_id = $1 order by kind',
      [userId],
    );
    const key = (await this.personalKeys.find([userId])).get(userId);
    if (key === undefined) return [];
    return rows.map(({ kind, type, sealed }) => ({
      kind,
      type,
      bytes: key.openBytes(sealed, toAssociatedData(userId, kind)),
    }));
  }

  /** Deletes the images stored until `time`. Later images belong to another verification. */
  async deleteUntil(userId: string, time: Date): Promise<void> {
    await this.database.query('delete from onboarding.images where user_id = $1 and stored_at <= $2', [
      userId,
      time,
    ]);
  }

  @Periodic({ name: 'retention of identity images', everyMs: HOUR_MS })
  async deleteOld(): Promise<void> {
    await this.database.query(
      'delete from onboarding.images where stored_at < now() - make_interval(days => $1)',
      [this.config.onboardingImageDays],
    );
  }
}

function toAssociatedData(userId: string, kind: ImageKind): string {
  return `onboarding-image/${userId}/${kind}`;
}
