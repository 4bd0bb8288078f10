import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { SubscriptionProgress } from '../../../../platform/projections/subscription-progress.js';
import { DIRECTORY_VIEW } from '../../views/directory-projection.js';
import { MerchantList } from '../../views/merchant-list.js';
import {
  merchantJson,
  type AdminMerchant,
  type MerchantsQuery,
  type MerchantsResponse,
} from './merchant-dto.js';

/** Merchants as the admin API responds with them, up to date. */
@Injectable()
export class AdminMerchants {
  constructor(
    private readonly list: MerchantList,
    private readonly progress: SubscriptionProgress,
    @Inject(CONFIG) private readonly config: Pick<Config, 'rateLimitPerMinute'>,
  ) {}

  /** `merchants`: only these; null: all. */
  async page(query: MerchantsQuery, merchants: readonly string[] | null): Promise<MerchantsResponse> {
    const { rows, next_cursor } = await this.list.page(merchants, query);
    return { merchants: rows.map((row) => merchantJson(row, this.config.rateLimitPerMinute)), next_cursor };
  }

  /** Throws `not_found`. */
  async json(id: string): Promise<AdminMerchant> {
    await this.progress.requireCurrent(DIRECTORY_VIEW);
    const row = await this.list.find(id);
    if (row === null) throw DomainError.notFound('Merchant');
    return merchantJson(row, this.config.rateLimitPerMinute);
  }
}
