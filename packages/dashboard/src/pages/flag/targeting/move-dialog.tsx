import { useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { NumberField } from '../../../components/number-field.tsx'
import { targeting } from '../../../messages/en/targeting.ts'
import { messages } from '../../../messages/messages.ts'

const { rules: texts } = targeting

/** The properties of `MoveDialog`. Indices count from 0. */
export interface MoveDialogProps {
  readonly index: number
  readonly count: number
  readonly onMove: (index: number) => void
  readonly onClose: () => void
}

/** A dialog that asks for the new position of a rule. */
export function MoveDialog({ index, count, onMove, onClose }: MoveDialogProps) {
  const [position, setPosition] = useState(index + 1)
  const isPosition = Number.isInteger(position) && position >= 1 && position <= count
  const move = () => {
    onMove(position - 1)
    onClose()
  }
  return (
    <Dialog
      title={texts.moveTitle}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button variant="primary" onPress={move} isDisabled={!isPosition}>
            {texts.move}
          </Button>
        </>
      }
    >
      <NumberField
        autoFocus
        label={texts.newPosition}
        value={position}
        onChange={(next) => next !== undefined && setPosition(next)}
        minValue={1}
        maxValue={count}
      />
    </Dialog>
  )
}
