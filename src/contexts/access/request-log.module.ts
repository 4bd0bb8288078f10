import { Global, Module } from '@nestjs/common';
import { RequestLog } from '../../platform/http/request-log.js';
import { BufferedRequestLog } from './store/request-log.js';
import { AdminRequestsController } from './http/admin/requests.controller.js';
import { RequestPartitions } from './store/request-partitions.js';
import { RequestTable } from './store/request-table.js';
import { DailyRequests } from './views/daily-requests.js';
import { LoggedRequests } from './views/logged-requests.js';

/** The requests of merchants (docs/adr/0178). The edge records into its {@link RequestLog}. */
@Global()
@Module({
  controllers: [AdminRequestsController],
  providers: [
    RequestTable,
    RequestPartitions,
    LoggedRequests,
    DailyRequests,
    BufferedRequestLog,
    { provide: RequestLog, useExisting: BufferedRequestLog },
  ],
  exports: [RequestLog, LoggedRequests, DailyRequests],
})
export class RequestLogModule {}
