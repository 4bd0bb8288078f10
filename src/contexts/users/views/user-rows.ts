import { Injectable } from '@nestjs/common';
import { mergedKeysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { USER_STATES, UserRow, type UserState } from './user-row.js';

/** What is absent does not restrict the list. */
export interface UserFilter extends KeysetPage {
  /** Null: of every merchant. */
  readonly merchantIds: readonly string[] | null;
  readonly userIds?: readonly string[] | undefined;
  readonly externalId?: string | undefined;
  /** In either letter case. */
  readonly wallet?: string | undefined;
  readonly state?: UserState | undefined;
}

/** Which users are there? */
@Injectable()
export class UserRows {
  constructor(private readonly models: ReadModels) {}

  /** Newest first. */
  async page(filter: UserFilter): Promise<{ readonly rows: UserRow[]; readonly next_cursor: string | null }> {
    const { merchantIds, userIds } = filter;
    if (merchantIds?.length === 0 || userIds?.length === 0) return { rows: [], next_cursor: null };
    const queries = await Promise.all(
      (merchantIds ?? [null]).map((merchantId) => this.query(merchantId, filter)),
    );
    return mergedKeysetPage(queries, filter, { time: 'createdAt', id: 'userId' });
  }

  /** Ids of the merchants that have users. It hops from one to the next through the index. */
  async merchants(): Promise<readonly string[]> {
    const found: string[] = [];
    for (let last: string | undefined; ;) {
      const query = (await this.models.query(UserRow, 'u')).select('u.merchantId', 'id');
      if (last !== undefined) query.where('u.merchantId > :last', { last });
      const next = await query.orderBy('u.merchantId').limit(1).getRawOne<{ id: string }>();
      if (next === undefined) return found;
      found.push((last = next.id));
    }
  }

  private async query(merchantId: string | null, filter: UserFilter) {
    const { userIds, externalId, wallet, state } = filter;
    const query = await this.models.query(UserRow, 'u');
    if (merchantId !== null) query.andWhere('u.merchantId = :merchantId', { merchantId });
    if (userIds !== undefined) query.andWhere('u.userId in (:...userIds)', { userIds });
    if (externalId !== undefined) query.andWhere('u.externalId = :externalId', { externalId });
    if (wallet !== undefined)
      query.andWhere('lower(u.wallet) = :wallet', { wallet: wallet.trim().toLowerCase() });
    if (state !== undefined) query.andWhere('u.state = :state', { state: USER_STATES.indexOf(state) });
    return query;
  }
}
