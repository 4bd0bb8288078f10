import { Inject, Injectable } from '@nestjs/common';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { ApiProperty, Nested } from '../../../platform/dto/field.js';
import { TIME, UUID } from '../../../platform/dto/rules.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';

export const MERCHANT_STATUSES = ['active', 'suspended'];
const STRINGS = { type: 'array', items: { type: 'string' } };

class DisplayedEmbedding {
  @ApiProperty(STRINGS) origins!: readonly string[];
  @ApiProperty(STRINGS) callbacks!: readonly string[];
  @ApiProperty({ type: 'string', nullable: true }) display_name!: string | null;
}

class DisplayedLimits {
  @ApiProperty({ type: 'integer' }) requests_per_minute!: number;
}

/** A merchant; its id is the value of `svc-api-key`. */
export class AdminMerchant {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty({ type: 'string', enum: MERCHANT_STATUSES }) status!: string;
  @ApiProperty(STRINGS) ip_allow_list!: readonly string[];
  @Nested(() => DisplayedEmbedding) embedding!: DisplayedEmbedding;
  @Nested(() => DisplayedLimits) limits!: DisplayedLimits;
  @ApiProperty(TIME) created_at!: Date;
}

/** An absent filter does not restrict the list. */
interface MerchantFilter extends KeysetPage {
  readonly status?: 'active' | 'suspended' | undefined;
  /** A part of the name, in either letter case. */
  readonly name?: string | undefined;
}

/** The merchants with their settings. */
@Injectable()
export class MerchantList {
  constructor(
    private readonly database: Database,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
  ) {}

  /** Newest first. `merchants`: only these; null: all. */
  page(merchants: readonly string[] | null, { status, name, ...page }: MerchantFilter) {
    const list = {
      columns: `merchant_id as id, name, status, ip_allow_list, registered_at as created_at,
        json_build_object('origins', origins, 'callbacks', callbacks, 'display_name', display_name) as embedding,
        json_build_object('requests_per_minute',
          coalesce(requests_per_minute, ${this.config.rateLimitPerMinute})) as limits`,
      from: 'access.merchants',
      time: 'registered_at',
      id: 'merchant_id',
      where: {
        'status = ?': status,
        'strpos(lower(name), lower(?)) > 0': name,
        'merchant_id = any(?)': merchants,
      },
    };
    return listPage<AdminMerchant>(this.database, list, page);
  }

  async find(id: string): Promise<AdminMerchant | null> {
    return (await this.page([id], { page_size: 1 })).rows[0] ?? null;
  }
}
