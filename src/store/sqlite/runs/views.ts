// The views that this engine keeps in runs.
import { activityView } from '../../runs/activity-view.ts'
import { countView } from '../../runs/count-view.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'

export const views: readonly View[] = [activityView, transferView, countView]
