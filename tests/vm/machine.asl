// SPDX-License-Identifier: GPL-2.0-or-later
// Lab machine tables for QEMU q35: P-states, a thermal zone, an AC adapter and
// a battery, so that the guest's stock acpi-cpufreq, thermal, ac and battery drivers bind.
// Without AC the battery is being discharged.
// Registers: P-state of CPU n at I/O port 0xE0+n (pc-testdev), temperature
// (tenths of kelvin) and AC state in pc-testdev's memory at 0xFF000000.
DefinitionBlock ("ssdt.aml", "SSDT", 2, "QUIESC", "BENCHLAB", 0x1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    External (\_SB.CPUS.C001, DeviceObj)
    External (\_SB.CPUS.C002, DeviceObj)
    External (\_SB.CPUS.C003, DeviceObj)
    OperationRegion (LABM, SystemMemory, 0xFF000000, 0x10)
    Field (LABM, DWordAcc, NoLock, Preserve) { TEMP, 32, NOAC, 32 }
    Name (PSSP, Package () {
        Package () { 2701, 9000, 10, 10, 0x1B, 0x1B },
        Package () { 2700, 8000, 10, 10, 0x1A, 0x1A },
        Package () { 2000, 6000, 10, 10, 0x14, 0x14 },
        Package () { 1600, 4000, 10, 10, 0x10, 0x10 },
    })
    Scope (\_SB.CPUS.C000) { Method (_PSS) { Return (PSSP) } Method (_PPC) { Return (0) }
        Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0xE0, ) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0xE0, ) } }) }
    Scope (\_SB.CPUS.C001) { Method (_PSS) { Return (PSSP) } Method (_PPC) { Return (0) }
        Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0xE1, ) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0xE1, ) } }) }
    Scope (\_SB.CPUS.C002) { Method (_PSS) { Return (PSSP) } Method (_PPC) { Return (0) }
        Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0xE2, ) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0xE2, ) } }) }
    Scope (\_SB.CPUS.C003) { Method (_PSS) { Return (PSSP) } Method (_PPC) { Return (0) }
        Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0xE3, ) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0xE3, ) } }) }
    Scope (\_SB)
    {
        Device (ACAD) {
            Name (_HID, "ACPI0003")
            Method (_PSR) { If (NOAC) { Return (Zero) } Return (One) }
            Method (_STA) { Return (0x0F) }
            Name (_PCL, Package () { \_SB })
        }
        Device (BAT0) {
            Name (_HID, EisaId ("PNP0C0A"))
            Name (_UID, 0)
            Method (_STA) { Return (0x1F) }
            Name (_PCL, Package () { \_SB })
            Name (_BIF, Package () { 1, 5000, 5000, 1, 12000, 500, 100, 1, 1, "LAB", "1", "LION", "QUIESC" })
            Method (_BST) {
                If (NOAC) { Return (Package () { 1, 1000, 2500, 12000 }) }
                Return (Package () { 0, 0, 5000, 12000 })
            }
        }
    }
    Scope (\)
    {
        ThermalZone (TZ00) {
            Method (_TMP) { If (TEMP) { Return (TEMP) } Return (3182) }
            Method (_CRT) { Return (3932) }
            Name (_TZP, 10)
        }
    }
}
